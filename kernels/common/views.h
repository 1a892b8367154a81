// Ops that only move elements, as strides: broadcast_in_dim, transpose, slice, reshape and local
// reshards cost nothing if their readers can access the operand's memory through strides instead.
#pragma once

#include <optional>

#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

/// Element (i0, i1, ..) is at `offset + sum of i * stride`, in elements, of a value.
struct StridedView {
  uint32_t value = 0;
  int64_t offset = 0;
  Extents strides;
};

/// The view of a value stored in memory, row-major over its box.
StridedView dense_view(uint32_t value, const Placement& placement);

/// The view of an op's result, given the view of its operand. nullopt if the op does more than move
/// elements, if strides cannot express it, or if the view would exceed the operand's `memory_elems`
/// elements.
std::optional<StridedView> moved_view(const BoundKernel& kernel, const Instruction& instruction,
                                      const StridedView& operand, int64_t memory_elems);

/// The elements of box `to`, through a view of box `from`; nullopt if `from` does not contain all
/// of them.
std::optional<StridedView> sub_view(const StridedView& view, const Box& from, const Box& to);

/// The reduction of a reshard whose result is partial and whose operand is not.
std::optional<Reduction> becomes_partial(const Function* function, const Instruction& reshard);

/// True if the view is row-major and dense over extents.
bool is_dense(const StridedView& view, const Extents& extents);

}  // namespace hostir::kernels
