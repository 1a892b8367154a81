// Small chains that are broadcast, such as a weight that is cast or a scale that is shifted.
// Storing them would cost a launch; instead each reader recomputes them.
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

using From = Register::From;

namespace {

constexpr int kMostRegisters = 8;
constexpr int64_t kLeastReuse = 8;

bool is_small(const Group& group, int reg, int& count) {
  const Register& r = group.at(reg);
  if (++count > kMostRegisters) return false;
  if (r.from == From::kLoad || r.from == From::kLiteral) return true;
  if (r.from != From::kOp || r.is_row || !cuda_op(r.op->kind).is_cheap) return false;
  for (const int operand : r.operands) {
    if (!is_small(group, operand, count)) return false;
  }
  return true;
}

/// Composes two walks: `outer` goes through the dense elements of a group's space, `inner` through
/// memory over that space. The result goes through memory over the space of `outer`. nullopt if a
/// stride of `outer` does not correspond to one dimension.
std::optional<Walk> composed(const Group& group, const Walk& outer, const Walk& inner) {
  const Extents& dense = group.full_walk().strides;
  Walk walk{inner.offset, Extents(outer.strides.size(), 0)};
  int64_t rest = outer.offset;
  for (size_t e = 0; e < dense.size(); ++e) {
    if (dense[e] == 0) continue;
    walk.offset += rest / dense[e] * inner.strides[e];
    rest %= dense[e];
  }
  for (size_t d = 0; d < outer.strides.size(); ++d) {
    if (outer.strides[d] == 0) continue;
    bool found = false;
    for (size_t e = 0; e < dense.size() && !found; ++e) {
      if (dense[e] != outer.strides[d]) continue;
      walk.strides[d] = inner.strides[e];
      found = true;
    }
    if (!found) return std::nullopt;
  }
  return walk;
}

}  // namespace

bool Planner::can_inline(uint32_t operand, const Box& box) const {
  const auto walk = walk_over(operand, box);
  const uint32_t root = root_of(operand);
  const Group& holder = *groups_[static_cast<size_t>(states_[root].group)];
  const int reg = holder.find(root);
  int count = 0;
  if (!walk || holder.has_folds() || reg < 0 || !is_small(holder, reg, count)) return false;
  if (holder.space().box.volume() * kLeastReuse > box.volume()) return false;
  return composed(holder, *walk, holder.full_walk()).has_value();
}

int Planner::inlined(Group& group, const Group& from, int reg, const Walk& walk) {
  Register copy = from.at(reg);
  if (copy.from == From::kLiteral) return group.literal(copy.dtype, copy.text);
  if (copy.from == From::kLoad) {
    return group.load(copy.buffer, copy.dtype, *composed(from, walk, copy.walk), false);
  }
  for (int& operand : copy.operands) operand = inlined(group, from, operand, walk);
  return group.define(UINT32_MAX, std::move(copy));
}

}  // namespace hostir::cuda
