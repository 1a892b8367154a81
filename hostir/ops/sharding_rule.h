// Sharding rules in factor form, and their text.
//
// A rule names the dimensions of an op's operands and results by *factors*, as einsum does:
// `([i, k], [k, j])->([i, j])`. Tensors whose dimensions share a factor may be cut along it
// together. Ops make rules from their types (OpRecord::rule); users write them on kernels of their
// own. The rule says what *may* stay cut; whether a given cut fits is decided by boxes (LANGUAGE
// section 2), which is the passes' business. Source: Shardy's OpShardingRule (dialect `sdy`,
// op_sharding_rule_registry).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "hostir/ir/type.h"

namespace hostir {

/// Each dimension of each tensor is a list of factors, major to minor; more than one where
/// dimensions are merged or split (`([i, j])->([ij])`).
struct ShardingRule {
  using DimFactors = std::vector<int>;
  using TensorFactors = std::vector<DimFactors>;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  std::vector<IndexExpr> factor_sizes;
  std::vector<int> reduction;    // sharded here: the results are partial
  std::vector<int> replicated;   // may not be sharded (`need_replication`)
  std::vector<int> permutation;  // a sharding passes, but data moves between neighbours
  Reduction reduction_kind = Reduction::kSum;

  int factor_count() const { return static_cast<int>(factor_sizes.size()); }
  /// True where each rank's result box can not be computed from its operand boxes if the factor is
  /// cut: `replicated`, `permutation`, or a factor of operands alone that is not reduced.
  bool must_replicate(int factor) const;
  /// `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`
  std::string to_string() const;

  friend bool operator==(const ShardingRule&, const ShardingRule&) = default;
};

/// The name of a factor: i, j, ... z, then z_1, z_2, ...
std::string factor_name(int factor);

/// Reads the text of a rule and binds the factors to the sizes of the types. Without any clause
/// after the result a factor of operands alone is a reduction, as in einsum; with clauses (`{i=4}`,
/// `reduction={k}` or `reduction=max{k}`, `need_replication={}`, `permutation={}`) nothing is
/// implied. Errors: `rule_c1` text that does not parse, `rule_c2` another number of tensors or
/// dimensions than the types have, `rule_c3` sizes of one factor that differ.
Expected<ShardingRule> parse_sharding_rule(std::string_view text, std::span<const Type> operands,
                                           std::span<const Type> results);

}  // namespace hostir
