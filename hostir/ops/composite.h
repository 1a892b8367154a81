// Helpers for the records of composites. A composite is an op that is always computed as simpler
// ops, given by its `expand`. Its sharding follows from those ops: a softmax over a cut dimension
// communicates two small tensors and never its operand.
#pragma once

#include "hostir/ops/indexed.h"

namespace hostir::ops {

/// Flops and bytes as if computed in one pass. The expanded ops have their own costs.
template <int flops_per_element>
Cost composite_cost(const OpCall& call, std::span<const Extents> operands,
                    std::span<const Extents> results) {
  return memory_cost(call, operands, results, flops_per_element * element_count_of(operands[0]));
}

/// The attribute `dims`, or the last dimension.
IntList normalised_dims(const Attributes& attributes, size_t rank);
/// Operand `operand`, if present, must have the sizes of operand 0 along the normalised dimensions.
Violated check_affine(const OpCall& call, size_t operand);
Violated check_normalised_dims(const OpCall& call);
AttributeSpec normalised_dims_attribute();
AttributeSpec epsilon_attribute();
/// Broadcasts a weight or bias over the normalised dimensions to shape `to`.
ValueId along_normalised(Builder& b, ValueId weight, const IntList& dims, const Shape& to);
/// The mean over `dims`, broadcast to the shape of x.
ValueId repeated_mean(Builder& b, ValueId x, const IntList& dims);

/// argmax and argmin: the smallest position along dim that holds what `extremum` (reduce_max or
/// reduce_min) finds; a NaN counts as the extremum.
Values expand_arg(Builder& b, OpKind extremum);
Violated check_searched_dim(const OpCall& call);
inline constexpr std::string_view kSearchedDim = "dim has an element.";
Expected<std::vector<Type>> infer_arg(const OpCall& call);

inline constexpr std::string_view kNormalisedDims =
    "dims lists dimensions of x in order, each at most once.";
inline constexpr std::string_view kAffine = "Weight and bias have the sizes of x along dims.";

}  // namespace hostir::ops
