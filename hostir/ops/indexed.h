// Helpers for ops that access elements by position or content: take, put, take_along, put_along,
// pad, slice, reverse, cumsum, sort, dynamic_slice, dynamic_update_slice.
//
// Indices are integer tensors of global positions. For an index outside the dimension, take gives 0
// and put drops the element. A rank therefore uses only its part of the dimension, and the partial
// results add up (a vocabulary cut by rows needs no gather).
#pragma once

#include "hostir/ops/builder.h"

namespace hostir::ops {

/// The attribute `dim` as a dimension of operand `operand`; negative numbers count from the end.
size_t indexed_dim(const OpCall& call, size_t operand = 0);
Violated check_indexed_dim(const OpCall& call);  // of operand 0
Violated check_index_dtype(const OpCall& call, size_t operand);
/// `take_along` and `put_along`: the indices must have the sizes of `other` except along `dim`.
Violated check_along(const OpCall& call, const Shape& other, size_t operand);

inline constexpr std::string_view kDim = "dim is a dimension of the operand; -1 is the last one.";
inline constexpr std::string_view kIndexDType = "The indices are integers, not i1.";

AttributeSpec dim_attribute(std::string_view doc, bool required = false);
/// The elements that `pad` adds between `size` elements, `interior` in each gap. An empty dimension
/// has no gaps.
IndexExpr interior_elements(const IndexExpr& size, int64_t interior);
/// x as blocks: dimension `dim`, filled up with `fill` at its end, becomes [parts, ceil(n/parts)].
/// If dim is cut into as many parts, each rank has its block without communication.
ValueId in_blocks(Builder& b, ValueId x, int64_t dim, int64_t parts, double fill);
/// The reverse; the first `size` elements.
ValueId out_of_blocks(Builder& b, ValueId x, int64_t dim, const IndexExpr& size);

/// The attributes `mode = add | set` and `size`.
std::vector<AttributeSpec> put_attributes();
bool adds(const OpCall& call);
bool put_has_base(const OpCall& call);
Violated check_put_indices(const OpCall& call);
/// If there is a base, its type must fit the updates; otherwise `size` must be given.
Violated check_put_base(const OpCall& call, const Shape& wanted);
PartialUse put_partial(const OpCall& call, size_t operand, Reduction kind);
/// The base is added once, after the reduce.
Values expand_put_base(Builder& b, OpKind kind, int64_t dim);

}  // namespace hostir::ops
