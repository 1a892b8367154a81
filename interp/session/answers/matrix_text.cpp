#include "interp/session/answers/matrix_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "hostir/ir/inline_value.h"

namespace hostir::interp {
namespace {

constexpr int64_t kEdge = 4;       // rows and columns shown at both ends of a long dimension
constexpr int64_t kWhole = 12;     // dimensions up to this length are shown whole
constexpr int64_t kMaxSlices = 4;  // for ranks above two

std::string element_bits(const Tensor& t, int64_t index) {
  const auto size = static_cast<size_t>(size_bytes(t.dtype));
  uint64_t bits = 0;
  std::memcpy(&bits, t.data.data() + static_cast<size_t>(index) * size, size);
  return fmt::format("0x{:0{}x}", bits, 2 * size);
}

std::string element_text(const Tensor& t, int64_t index, char format) {
  if (format == 'x') return element_bits(t, index);
  if (format == 'e') return fmt::format("{:.6e}", t.get_double(index));
  if (format == 'd' && is_float(t.dtype)) return fmt::format("{:.6f}", t.get_double(index));
  return format_number(t, index);
}

// The indices of a dimension to show; -1 marks the elided part.
std::vector<int64_t> shown(int64_t size) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < size; ++i) {
    if (size > kWhole && i == kEdge) {
      out.push_back(-1);
      i = size - kEdge;
    }
    out.push_back(i);
  }
  return out;
}

// One matrix, starting at the given row-major index.
std::string matrix(const Tensor& t, int64_t first, int64_t rows, int64_t columns, char format) {
  std::vector<std::vector<std::string>> cells;
  std::vector<size_t> widths(shown(columns).size(), 0);
  for (const int64_t r : shown(rows)) {
    std::vector<std::string> line;
    for (const int64_t c : shown(columns))
      line.push_back(r < 0 || c < 0 ? "..." : element_text(t, first + r * columns + c, format));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    cells.push_back(std::move(line));
  }
  std::string out;
  for (const auto& line : cells) {
    out += "  [";
    for (size_t i = 0; i < line.size(); ++i)
      out += fmt::format("{}{:>{}}", i == 0 ? "" : " ", line[i], widths[i]);
    out += "]\n";
  }
  return out;
}

std::string slice_name(const Extents& extents, int64_t slice) {
  std::string out = ":, :]";
  for (size_t d = extents.size() - 2; d-- > 0;) {
    out = fmt::format("{}, {}", slice % extents[d], out);
    slice /= extents[d];
  }
  return "  [" + out;
}

}  // namespace

std::string matrix_text(const Tensor& t, char format) {
  const int64_t elements = t.element_count();
  if (elements == 0) return fmt::format("  empty ({})\n", format_shape_text(t.dtype, t.extents));
  const size_t rank = t.extents.size();
  if (rank == 0) return "  " + element_text(t, 0, format) + "\n";
  const int64_t columns = t.extents[rank - 1];
  if (rank == 1) return matrix(t, 0, 1, columns, format);
  const int64_t rows = t.extents[rank - 2];
  if (rank == 2) return matrix(t, 0, rows, columns, format);
  std::string out;
  const int64_t slices = elements / (rows * columns);
  for (int64_t s = 0; s < std::min(slices, kMaxSlices); ++s) {
    out += slice_name(t.extents, s) + "\n" + matrix(t, s * rows * columns, rows, columns, format);
  }
  if (slices > kMaxSlices) out += fmt::format("  ... {} more\n", slices - kMaxSlices);
  return out;
}

}  // namespace hostir::interp
