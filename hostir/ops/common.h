// Constraints, inference, rules and costs shared by the records of compute ops, as plain functions
// that fit the fields of OpRecord.
//
// The registry checks the number of operands before it runs constraint checks. Sizes are compared
// after simplification; symbolic sizes that cannot be shown to be equal are an error.
#pragma once

#include <string_view>

#include "hostir/ops/record.h"

namespace hostir::ops {

using Violated = std::optional<Violation>;

/// Sizes.
bool same_size(const IndexExpr& a, const IndexExpr& b);

/// True if a < b for all values of the symbolic sizes.
bool is_below(const IndexExpr& a, const IndexExpr& b);
bool same_shape(const Shape& a, const Shape& b);
/// The product of all sizes, simplified.
IndexExpr product(const Shape& shape);
/// `4x?B`, or `scalar`.
std::string text(const Shape& shape);

/// Constraints.
Violated check_same_shape(const OpCall& call);
Violated check_same_dtype(const OpCall& call);
Violated check_float(const OpCall& call);    // of operand 0
Violated check_numeric(const OpCall& call);  // not i1
Violated check_signed(const OpCall& call);   // a float or a signed integer
Violated check_integer(const OpCall& call);  // an integer but not i1, of operand 0
Violated check_i1(const OpCall& call);       // every operand

inline constexpr std::string_view kSameShape =
    "All operands have one shape, or can be widened to one as numpy does.";
inline constexpr std::string_view kSameDType =
    "All operands have the same dtype; convert with cast.";
inline constexpr std::string_view kFloat = "The operands are f64, f32, bf16 or f16.";
inline constexpr std::string_view kNumeric = "The operands are numbers, not i1.";
inline constexpr std::string_view kSigned = "The operands are floats or signed integers.";
inline constexpr std::string_view kInteger = "The operands are integers, not i1.";
inline constexpr std::string_view kBool = "The operands are i1.";

/// Inference.
Type tensor(DType dtype, Shape shape);
Expected<std::vector<Type>> infer_like_first(const OpCall& call);  // shape and dtype of operand 0
Expected<std::vector<Type>> inferred(Type type);
/// The tensor type written for result 0, or nullptr.
const TensorType* written_tensor(const OpCall& call);
/// A dimension list attribute; empty if absent.
IntList dims_of(const OpCall& call, std::string_view name);
/// Each entry must be in 0..rank-1 and unique. `what` is the attribute's name for the message.
Violated check_dims(const IntList& dims, size_t rank, std::string_view what);

/// Sharding rules.
ShardingRule::TensorFactors one_to_one(size_t first, size_t rank);
Expected<ShardingRule> pointwise_rule(const OpCall& call, std::span<const Type> results);

/// Costs: bytes of all operands and results, and flops per result element.
Cost memory_cost(const OpCall& call, std::span<const Extents> operands,
                 std::span<const Extents> results, double flops);
double element_count_of(const Extents& extents);
template <int flops_per_element>
Cost pointwise_cost(const OpCall& call, std::span<const Extents> operands,
                    std::span<const Extents> results) {
  return memory_cost(call, operands, results, flops_per_element * element_count_of(results[0]));
}

/// Marks of partial operands.
inline constexpr PartialUses kLinear = {.sum = PartialUse::kOthersWhole};
inline constexpr PartialUses kJointlyLinear = {.sum = PartialUse::kAllAlike};
inline constexpr PartialUses kRising = {.min = PartialUse::kAnyMix, .max = PartialUse::kAnyMix};
inline constexpr PartialUses kMoved = {.sum = PartialUse::kAnyMix,
                                       .prod = PartialUse::kAnyMix,
                                       .min = PartialUse::kAnyMix,
                                       .max = PartialUse::kAnyMix};
inline constexpr PartialUses kAllMovedAlike = {.sum = PartialUse::kAllAlike,
                                               .prod = PartialUse::kAllAlike,
                                               .min = PartialUse::kAllAlike,
                                               .max = PartialUse::kAllAlike};

}  // namespace hostir::ops
