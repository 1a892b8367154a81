#include "kernels/common/views.h"

#include <array>
#include <utility>

#include "kernels/common/elements.h"

namespace hostir::kernels {
namespace {

/// One application of an op that moves elements.
struct Move {
  const BoundKernel& kernel;
  const Instruction& instruction;
  const Placement& in;
  const Placement& out;
  const StridedView& view;
};
using MoveFn = std::optional<StridedView> (*)(const Move&);

std::optional<StridedView> broadcast_view(const Move& move) {
  const IntList* dims = move.instruction.attributes.get<IntList>("dims");
  if (dims == nullptr || dims->size() != move.in.global.size()) return std::nullopt;
  StridedView result{move.view.value, move.view.offset, Extents(move.out.global.size(), 0)};
  for (size_t d = 0; d < dims->size(); ++d) {
    const auto target = static_cast<size_t>((*dims)[d]);
    if (move.in.global[d] == 1) continue;
    result.strides[target] = move.view.strides[d];
    result.offset += (move.out.box.lo[target] - move.in.box.lo[d]) * move.view.strides[d];
  }
  return result;
}

std::optional<StridedView> transpose_view(const Move& move) {
  const IntList* permutation = move.instruction.attributes.get<IntList>("permutation");
  if (permutation == nullptr) return std::nullopt;
  StridedView result = move.view;
  for (size_t d = 0; d < permutation->size(); ++d) {
    const auto source = static_cast<size_t>((*permutation)[d]);
    result.strides[d] = move.view.strides[source];
    result.offset += (move.out.box.lo[d] - move.in.box.lo[source]) * move.view.strides[source];
  }
  return result;
}

std::optional<StridedView> slice_view(const Move& move) {
  const ExprList* start = move.instruction.attributes.get<ExprList>("start");
  const IntList* stride = move.instruction.attributes.get<IntList>("stride");
  if (start == nullptr) return std::nullopt;
  StridedView result = move.view;
  for (size_t d = 0; d < start->size(); ++d) {
    const int64_t step = stride ? (*stride)[d] : 1;
    const int64_t at = (*start)[d].value() + move.out.box.lo[d] * step - move.in.box.lo[d];
    result.offset += at * move.view.strides[d];
    result.strides[d] *= step;
  }
  return result;
}

/// The global index of the first element, if the box's elements are consecutive in the global
/// tensor.
std::optional<int64_t> first_of_interval(const Placement& placement) {
  const Extents local = placement.local();
  size_t d = 0;
  while (d < local.size() && local[d] == 1) ++d;
  for (size_t inner = d + 1; inner < local.size(); ++inner) {
    if (local[inner] != placement.global[inner]) return std::nullopt;
  }
  return global_linear_index(placement.global, placement.box.lo);
}

/// True if dimensions [from_lo, from_hi) and [to_lo, to_hi) hold the same elements in the same
/// order on this rank.
bool same_part(const Placement& from, size_t from_lo, size_t from_hi, const Placement& to,
               size_t to_lo, size_t to_hi) {
  const auto part = [](const Placement& p, size_t lo, size_t hi) {
    Placement cut;
    for (size_t d = lo; d < hi; ++d) {
      cut.global.push_back(p.global[d]);
      cut.box.lo.push_back(p.box.lo[d]);
      cut.box.hi.push_back(p.box.hi[d]);
    }
    return cut;
  };
  const Placement a = part(from, from_lo, from_hi);
  const Placement b = part(to, to_lo, to_hi);
  const auto first_a = first_of_interval(a);
  const auto first_b = first_of_interval(b);
  return first_a && first_b && *first_a == *first_b && a.box.volume() == b.box.volume();
}

/// Splits both shapes into the smallest groups of equal size and compares the boxes group by group.
bool keeps_order(const Placement& from, const Placement& to) {
  if (element_count(from.global).value_or(0) == 0) return false;
  size_t i = 0;
  size_t j = 0;
  while (i < from.global.size() || j < to.global.size()) {
    const size_t from_lo = i;
    const size_t to_lo = j;
    int64_t a = i < from.global.size() ? from.global[i++] : 1;
    int64_t b = j < to.global.size() ? to.global[j++] : 1;
    while (a != b) {
      if (a < b) {
        if (i == from.global.size()) return false;
        a *= from.global[i++];
      } else {
        if (j == to.global.size()) return false;
        b *= to.global[j++];
      }
    }
    if (!same_part(from, from_lo, i, to, to_lo, j)) return false;
  }
  return true;
}

// The strides of `to` over the same elements in the same order as `from` with `strides`. Dimensions
// of `from` that follow each other in memory are one run, which dimensions of `to` split
// differently.
std::optional<Extents> reshaped_strides(const Extents& from, const Extents& strides,
                                        const Extents& to) {
  Extents out = strides_of(to);
  size_t next = to.size();  // dimensions of `to` from here on are done
  for (size_t end = from.size(); end > 0;) {
    const int64_t innermost = strides[end - 1];
    int64_t run = from[end - 1];
    for (--end; end > 0 && (from[end - 1] == 1 || strides[end - 1] == run * innermost); --end) {
      run *= from[end - 1];
    }
    int64_t split = 1;
    for (; next > 0 && (split < run || to[next - 1] == 1); --next) {
      out[next - 1] = split * innermost;
      split *= to[next - 1];
    }
    if (split != run) return std::nullopt;
  }
  return out;
}

std::optional<StridedView> reshape_view(const Move& move) {
  if (!keeps_order(move.in, move.out)) return std::nullopt;
  const Extents to = move.out.local();
  if (move.in.box.empty()) return StridedView{move.view.value, move.view.offset, strides_of(to)};
  auto strides = reshaped_strides(move.in.local(), move.view.strides, to);
  if (!strides) return std::nullopt;
  return StridedView{move.view.value, move.view.offset, std::move(*strides)};
}

std::optional<StridedView> reshard_view(const Move& move) {
  if (move.kernel.holds_identity(move.instruction.results.front())) return std::nullopt;
  return sub_view(move.view, move.in.box, move.out.box);
}

struct Mover {
  OpKind kind;
  MoveFn view;
};
constexpr std::array<Mover, 5> kMovers = {{{OpKind::broadcast_in_dim, broadcast_view},
                                           {OpKind::transpose, transpose_view},
                                           {OpKind::slice, slice_view},
                                           {OpKind::reshape, reshape_view},
                                           {OpKind::reshard, reshard_view}}};

bool stays_inside(const StridedView& view, const Extents& extents, int64_t memory_elems) {
  int64_t lowest = view.offset;
  int64_t highest = view.offset;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] <= 0) return true;
    const int64_t reach = (extents[d] - 1) * view.strides[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  return lowest >= 0 && highest < memory_elems;
}

const Sharding* sharding_of_value(const Function* function, ValueId id) {
  return function != nullptr && id.valid() ? sharding_of(function->value(id).type) : nullptr;
}

}  // namespace

std::optional<Reduction> becomes_partial(const Function* function, const Instruction& reshard) {
  const Sharding* result = sharding_of_value(function, reshard.results[0]);
  const Sharding* operand = sharding_of_value(function, reshard.operands[0].value);
  if (!result || !result->is_partial()) return std::nullopt;
  if (operand && operand->unreduced == result->unreduced) return std::nullopt;
  return result->unreduced_kind;
}

StridedView dense_view(uint32_t value, const Placement& placement) {
  return {value, 0, strides_of(placement.local())};
}

bool is_dense(const StridedView& view, const Extents& extents) {
  const Extents dense = strides_of(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] != 1 && view.strides[d] != dense[d]) return false;
  }
  return true;
}

std::optional<StridedView> sub_view(const StridedView& view, const Box& from, const Box& to) {
  if (from.lo.size() != to.lo.size() || !from.contains(to)) return std::nullopt;
  StridedView result = view;
  for (size_t d = 0; d < to.lo.size(); ++d) {
    result.offset += (to.lo[d] - from.lo[d]) * view.strides[d];
  }
  return result;
}

std::optional<StridedView> moved_view(const BoundKernel& kernel, const Instruction& instruction,
                                      const StridedView& operand, int64_t memory_elems) {
  for (const Mover& mover : kMovers) {
    if (mover.kind != instruction.kind) continue;
    const Placement& in = kernel.values[instruction.operands[0].value.index];
    const Placement& out = kernel.values[instruction.results[0].index];
    auto view = mover.view({kernel, instruction, in, out, operand});
    if (view && stays_inside(*view, out.local(), memory_elems)) return view;
  }
  return std::nullopt;
}

}  // namespace hostir::kernels
