#include "hostir/import/device/device_numbers.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "hostir/import/emit/arithmetic.h"

namespace hostir::importer {

namespace {

using Row = std::vector<int64_t>;

constexpr int64_t kMostNumbers = int64_t{1} << 16;

const Row& row_of(const DeviceNumbers& numbers, size_t rank) {
  return numbers.size() == 1 ? numbers.front() : numbers[rank];
}

// The elements of one device, of the operands' dtype; nullopt if the operation is not known.
std::optional<Row> calculated_row(const ModuleOp& op, DType dtype, const std::vector<Row>& in,
                                  size_t count) {
  const std::string_view name = op.name;
  const bool passes = name == "stablehlo.convert" || name == "stablehlo.reshape" ||
                      name == "hlo.bitcast" || name == "hlo.done";
  if (passes && in.size() == 1 && in[0].size() == count) return in[0];
  if (name == "stablehlo.broadcast_in_dim" && in.size() == 1 && in[0].size() == 1)
    return Row(count, in[0][0]);
  if (name == "stablehlo.dynamic_slice" && in.size() == 2 && in[1].size() == 1 &&
      in[0].size() >= count) {  // a table of one dimension has one offset
    const auto last = static_cast<int64_t>(in[0].size() - count);
    const auto first = in[0].begin() + std::clamp<int64_t>(in[1][0], 0, last);
    return Row(first, first + static_cast<int64_t>(count));
  }
  if (in.size() == 3 && (name == "stablehlo.select" || name == "stablehlo.clamp")) {
    Row out;
    for (size_t i = 0; i < count; ++i) {
      int64_t of[3];
      for (size_t k = 0; k < 3; ++k) {
        if (in[k].size() != count && in[k].size() != 1) return std::nullopt;
        of[k] = in[k][in[k].size() == 1 ? 0 : i];
      }
      const bool selects = name == "stablehlo.select";
      out.push_back(selects ? of[of[0] != 0 ? 1 : 2] : std::min(std::max(of[1], of[0]), of[2]));
    }
    return out;
  }
  if (in.size() != 2 || in[0].size() != count || in[1].size() != count) return std::nullopt;
  Row out;
  for (size_t i = 0; i < count; ++i) {
    const auto value = name == "stablehlo.compare"
                           ? holds(op.word("comparison_direction"), dtype, in[0][i], in[1][i])
                           : combined(name, dtype, in[0][i], in[1][i]);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

}  // namespace

DeviceNumbers device_numbers(const ModuleFunction& function, const ModuleOp& op,
                             const std::vector<DeviceNumbers>& in, const Mesh& mesh) {
  if (op.results.size() != 1) return {};
  const ModuleType& type = function.type(op.results.front());
  const auto dtype = type.dtype();
  const int64_t count = type.element_count();
  const int64_t devices = mesh.size();
  if (!dtype || is_float(*dtype) || count < 1 || count > kMostNumbers ||
      count * devices > kMostNumbers) {
    return {};
  }
  if (op.name == "stablehlo.partition_id") {
    DeviceNumbers out;
    for (int64_t rank = 0; rank < devices; ++rank) out.push_back({rank});
    return out;
  }
  if (op.name == "stablehlo.constant") {
    const Attr* value = op.find("value");
    Row row = value != nullptr ? value->integers() : Row();
    if (row.size() == static_cast<size_t>(count)) return {std::move(row)};
    return {};
  }
  if (op.name == "stablehlo.iota" && type.dims.size() == 1) {
    Row row(static_cast<size_t>(count));
    std::iota(row.begin(), row.end(), 0);
    return {std::move(row)};
  }
  const auto known = [](const DeviceNumbers& numbers) { return !numbers.empty(); };
  if (in.empty() || !std::all_of(in.begin(), in.end(), known)) return {};
  const bool equal =
      std::all_of(in.begin(), in.end(), [](const DeviceNumbers& n) { return n.size() == 1; });
  const auto taken = function.type(op.operands.front()).dtype();
  if (!taken) return {};
  const bool is_predicate = op.name == "stablehlo.convert" && *dtype == DType::kI1;
  DeviceNumbers out;
  for (size_t rank = 0; rank < (equal ? 1 : static_cast<size_t>(devices)); ++rank) {
    std::vector<Row> rows;
    for (const DeviceNumbers& numbers : in) rows.push_back(row_of(numbers, rank));
    auto row = calculated_row(op, *taken, rows, static_cast<size_t>(count));
    if (!row) return {};
    const auto as_result = [&](int64_t value) {
      return is_predicate ? value != 0 : narrowed(value, *dtype);
    };
    std::transform(row->begin(), row->end(), row->begin(), as_result);
    out.push_back(std::move(*row));
  }
  return out;
}

std::vector<size_t> axes_that_change(const DeviceNumbers& scalar, const Mesh& mesh) {
  std::vector<std::pair<int64_t, size_t>> steps;
  if (scalar.size() != static_cast<size_t>(mesh.size())) return {};
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    // From coordinate 0 to 1, with all other coordinates 0.
    int64_t stride = 1;
    for (size_t minor = axis + 1; minor < mesh.axes.size(); ++minor)
      stride *= mesh.axes[minor].size;
    if (mesh.axes[axis].size < 2) continue;
    const auto at = [&](int64_t position) {
      const auto rank = static_cast<size_t>(mesh.rank_at(position));
      return rank < scalar.size() && !scalar[rank].empty() ? scalar[rank].front() : 0;
    };
    const int64_t step = at(stride) - at(0);
    if (step != 0) steps.emplace_back(-std::abs(step), axis);
  }
  std::stable_sort(steps.begin(), steps.end());
  std::vector<size_t> out;
  for (const auto& [step, axis] : steps) out.push_back(axis);
  return out;
}

}  // namespace hostir::importer
