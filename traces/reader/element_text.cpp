#include "traces/reader/element_text.h"

#include <fmt/core.h>

#include "hostir/ir/tensor.h"

namespace hostir::traces {

std::string element_text(DType dtype, const Box& box, const std::vector<int64_t>& element,
                         std::span<const std::byte> data) {
  int64_t index = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    index = index * (box.hi[i] - box.lo[i]) + (element[i] - box.lo[i]);
  }
  const int64_t offset = index * size_bytes(dtype);
  if (offset < 0 || offset + size_bytes(dtype) > static_cast<int64_t>(data.size())) return {};
  const std::byte* at = data.data() + offset;
  if (is_float(dtype)) return fmt::format("{:.9g}", load_double(dtype, at));
  if (dtype == DType::kU64) return fmt::format("{}", static_cast<uint64_t>(load_int(dtype, at)));
  return fmt::format("{}", load_int(dtype, at));
}

}  // namespace hostir::traces
