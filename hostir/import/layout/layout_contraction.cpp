#include "hostir/import/layout/layout_contraction.h"

#include <algorithm>

#include "hostir/import/ops/windows.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

std::vector<Parts> contracted(const ModuleOp& op, const std::vector<Parts>& left,
                              const std::vector<Parts>& right, size_t rank) {
  std::vector<Parts> out;
  const Attr* batch = op.find("batching_dims");
  const Attr* depth = op.find("contracting_dims");
  if (batch == nullptr || depth == nullptr) return std::vector<Parts>(rank);
  const auto right_batch = batch->items[1].integers();
  for (const int64_t d : batch->items[0].integers()) {
    if (d < 0 || static_cast<size_t>(d) >= left.size()) continue;
    const size_t number = out.size();
    Parts parts = left[static_cast<size_t>(d)];
    const auto other = number < right_batch.size() ? static_cast<size_t>(right_batch[number]) : 0;
    if (number < right_batch.size() && other < right.size()) {
      for (const Parts& group : axis_groups(right[other])) {
        if (!contains(axes_of(parts), group.front().axis))
          insert_in_order(parts, group, right[other]);
      }
    }
    out.push_back(std::move(parts));
  }
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<Parts>& dims = side == 0 ? left : right;
    const auto b = batch->items[side].integers();
    const auto k = depth->items[side].integers();
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      if (!contains(b, number) && !contains(k, number)) {
        out.push_back(dims[d]);
      }
    }
  }
  // An axis can cut only one dimension.
  AxisNames seen;
  for (Parts& parts : out) {
    std::erase_if(parts, [&](const Part& p) { return p.is_axis() && contains(seen, p.axis); });
    const AxisNames axes = axes_of(parts);
    seen.insert(seen.end(), axes.begin(), axes.end());
  }
  out.resize(rank);
  return out;
}

std::vector<Parts> convolved(const ModuleOp& op, const std::vector<Parts>& left,
                             const std::vector<Parts>& right, size_t rank) {
  std::vector<Parts> out(rank);
  const auto labels = convolution_labels(op);
  const auto& made = labels[2];
  for (size_t d = 0; d < made.size() && d < rank; ++d) {
    const bool feature = made[d] == "f";
    const auto& given = labels[feature ? 1 : 0];
    const std::vector<Parts>& dims = feature ? right : left;
    const auto from = static_cast<size_t>(
        std::find(given.begin(), given.end(), feature ? "o" : made[d]) - given.begin());
    if (from < given.size() && from < dims.size()) out[d] = dims[from];
  }
  return out;
}

std::vector<Parts> gathered(const ModuleOp& op, const std::vector<int64_t>& dims,
                            const std::vector<Parts>& operand, const std::vector<Parts>& indices,
                            size_t rank) {
  std::vector<Parts> out(rank);
  const Attr* numbers = op.find("dimension_numbers");
  if (numbers == nullptr) return out;
  const auto ints = [&](std::string_view key) {
    const Attr* a = numbers->find(key);
    return a != nullptr ? a->integers() : std::vector<int64_t>();
  };
  const auto holds = [](const std::vector<int64_t>& list, size_t d) {
    return contains(list, static_cast<int64_t>(d));
  };
  const auto offset = ints("offset_dims");
  const auto collapsed = ints("collapsed_slice_dims");
  const auto sizes = op.integers("slice_sizes");
  size_t source = 0;
  size_t index = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (!holds(offset, d)) {
      if (index < indices.size()) out[d] = indices[index++];
      continue;
    }
    while (source < dims.size() && holds(collapsed, source)) ++source;
    if (source < operand.size() && source < sizes.size() && sizes[source] == dims[source])
      out[d] = operand[source];
    ++source;
  }
  return out;
}

}  // namespace hostir::importer
