// Ops that only move elements, as strides: broadcast_in_dim, transpose, slice, reshape and local
// reshards cost nothing where whoever reads them can walk the operand's memory instead.
#pragma once

#include <optional>

#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

/// Element (i0, i1, ..) of a space is at `offset + sum of i * stride`, in elements, of a value.
struct StridedView {
  uint32_t value = 0;
  int64_t offset = 0;
  Extents strides;
};

/// The view of a value that lies in memory itself, row-major over its box.
StridedView dense_view(uint32_t value, const Placement& placement);

/// The view of an op's result given the view of its operand; nullopt where the op only moves no
/// elements, or not by strides, or would leave the operand's memory of `memory_elems` elements.
std::optional<StridedView> moved_view(const BoundKernel& kernel, const Instruction& instruction,
                                      const StridedView& operand, int64_t memory_elems);

/// The elements of box `to` seen through a view of box `from`; nullopt if they are not all in it.
std::optional<StridedView> sub_view(const StridedView& view, const Box& from, const Box& to);

/// The reduction by which a reshard's result is partial where its operand is not.
std::optional<Reduction> becomes_partial(const Function* function, const Instruction& reshard);

/// True if the view is row-major and dense over extents.
bool is_dense(const StridedView& view, const Extents& extents);

}  // namespace hostir::kernels
