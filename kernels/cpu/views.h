// Ops that only move elements, as strides: broadcast_in_dim, transpose, slice, reshape and local
// reshards cost nothing where whoever reads them can walk the operand's memory instead.
#pragma once

#include <optional>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile_program.h"

namespace hostir::cpu {

/// The view of a value that lies in memory itself, row-major over its box.
StridedView dense_view(uint32_t value, const Placement& placement);

/// The view of an op's result given the view of its operand; nullopt where the op only moves no
/// elements, or not by strides, or would leave the operand's memory of `memory_elems` elements.
std::optional<StridedView> moved_view(const BoundKernel& kernel, const Instruction& instruction,
                                      const StridedView& operand, int64_t memory_elems);

/// The elements of box `to` seen through a view of box `from`; nullopt if they are not all in it.
std::optional<StridedView> sub_view(const StridedView& view, const Box& from, const Box& to);

/// True if the view is row-major and dense over extents.
bool is_dense(const StridedView& view, const Extents& extents);

}  // namespace hostir::cpu
