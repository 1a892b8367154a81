#include "kernels/cuda/generate/group.h"

#include <utility>

#include "kernels/common/elements.h"

namespace hostir::cuda {

Group::Group(const Placement& space)
    : space_(space), extents_(space.local()), full_walk_{0, kernels::strides_of(space.local())} {
  full_walk_ = normalised(full_walk_);
}

void Group::set_folds(std::vector<bool> folded, bool split) {
  folded_ = std::move(folded);
  split_ = split;
}

int64_t Group::rows() const {
  int64_t rows = 1;
  for (size_t d = 0; d < folded_.size(); ++d) rows *= folded_[d] ? 1 : extents_[d];
  return rows;
}

int64_t Group::columns() const {
  int64_t columns = 1;
  for (size_t d = 0; d < folded_.size(); ++d) columns *= folded_[d] ? extents_[d] : 1;
  return columns;
}

Walk Group::row_walk() const {
  Walk walk{0, Extents(extents_.size(), 0)};
  int64_t stride = 1;
  for (size_t d = extents_.size(); d > 0; --d) {
    if (folded_[d - 1]) continue;
    walk.strides[d - 1] = stride;
    stride *= extents_[d - 1];
  }
  return normalised(walk);
}

std::optional<Walk> Group::lift(const Extents& row_extents, const Walk& walk) const {
  Walk lifted{walk.offset, Extents(extents_.size(), 0)};
  size_t r = 0;
  const auto skip_ones = [&] {
    while (r < row_extents.size() && row_extents[r] == 1) ++r;
  };
  for (size_t d = 0; d < extents_.size(); ++d) {
    if (folded_[d] || extents_[d] == 1) continue;
    skip_ones();
    if (r == row_extents.size() || row_extents[r] != extents_[d]) return std::nullopt;
    lifted.strides[d] = walk.strides[r++];
  }
  skip_ones();
  if (r != row_extents.size()) return std::nullopt;
  return lifted;
}

Walk Group::normalised(Walk walk) const {
  for (size_t d = 0; d < extents_.size(); ++d) {
    if (extents_[d] == 1) walk.strides[d] = 0;
  }
  return walk;
}

int Group::find(uint32_t value) const {
  const auto found = by_value_.find(value);
  return found == by_value_.end() ? -1 : found->second;
}

int Group::load(int buffer, DType dtype, const Walk& walk, bool is_row) {
  const Walk normal = normalised(walk);
  const auto key = std::make_tuple(buffer, is_row, normal.offset, normal.strides);
  const auto found = loads_.find(key);
  if (found != loads_.end()) return found->second;
  Register reg;
  reg.from = Register::From::kLoad;
  reg.dtype = dtype;
  reg.is_row = is_row;
  reg.buffer = buffer;
  reg.walk = normal;
  registers_.push_back(std::move(reg));
  const int index = static_cast<int>(registers_.size()) - 1;
  loads_.emplace(key, index);
  return index;
}

int Group::literal(DType dtype, std::string text) {
  Register reg;
  reg.from = Register::From::kLiteral;
  reg.dtype = dtype;
  reg.text = std::move(text);
  registers_.push_back(std::move(reg));
  return static_cast<int>(registers_.size()) - 1;
}

int Group::define(uint32_t value, Register reg) {
  registers_.push_back(std::move(reg));
  const int index = static_cast<int>(registers_.size()) - 1;
  if (value != UINT32_MAX) by_value_[value] = index;
  return index;
}

void Group::store(int reg, int buffer, const Walk& walk) {
  stores_.push_back({reg, buffer, normalised(walk)});
}

}  // namespace hostir::cuda
