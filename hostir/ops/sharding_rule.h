// Sharding rules in factor form, and their text.
//
// A rule names the dimensions of an op's operands and results by *factors*, as einsum does:
// `([i, k], [k, j])->([i, j])`. Tensors whose dimensions share a factor may be cut along it
// together. Ops build rules from their types (OpRecord::rule); users write rules on their own
// kernels. A rule states what *may* stay cut; the passes compare boxes (hostir/ir/sharding.h) to
// see whether a given cut fits. Source: Shardy's OpShardingRule (dialect `sdy`,
// op_sharding_rule_registry).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "hostir/ir/type.h"

namespace hostir {

/// Each dimension of each tensor is a list of factors, major to minor. It has several factors if
/// dimensions are merged or split (`([i, j])->([ij])`).
struct ShardingRule {
  using DimFactors = std::vector<int>;
  using TensorFactors = std::vector<DimFactors>;
  std::vector<TensorFactors> operands;
  std::vector<TensorFactors> results;
  std::vector<IndexExpr> factor_sizes;
  std::vector<int> reduction;    // if one is sharded, the results are partial
  std::vector<int> replicated;   // may not be sharded (`need_replication`)
  std::vector<int> permutation;  // sharding propagates, but neighbours must exchange data
  Reduction reduction_kind = Reduction::kSum;

  /// Element i of the results along factor `to` is element i + by of the operand along factor
  /// `from`, or by - i if mirrored. If `to` is cut, the operand is cut at the same elements, in
  /// blocks (DimSharding::block), and neighbours exchange only the missing elements. If it wraps,
  /// indices count from the end again: equal parts are moved whole (DimSharding::turn).
  struct Shift {
    size_t operand = 0;
    int from = 0;
    int to = 0;
    IndexExpr by;
    bool mirrored = false;
    bool wraps = false;
    friend bool operator==(const Shift&, const Shift&) = default;
  };
  std::vector<Shift> shifts;

  int factor_count() const { return static_cast<int>(factor_sizes.size()); }
  /// True if a rank cannot compute its result box from its operand boxes when the factor is cut:
  /// `replicated`, `permutation`, or a factor that occurs only in operands and is not reduced.
  bool must_replicate(int factor) const;
  /// `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`
  std::string to_string() const;

  friend bool operator==(const ShardingRule&, const ShardingRule&) = default;
};

/// The name of a factor: i, j, ... z, then z_1, z_2, ...
std::string factor_name(int factor);

/// The factors of a rule's text as the user named them, in the order of their numbers.
std::vector<std::string> written_factors(std::string_view text);

/// Parses a rule and binds its factors to the sizes of the types. In a rule without clauses, a
/// factor that occurs only in operands is a reduction, as in einsum. In a rule with clauses
/// (`{i=4}`, `reduction={k}` or `reduction=max{k}`, `need_replication={}`, `permutation={}`),
/// nothing is implied. Errors: `rule_c1` the text does not parse; `rule_c2` the number of tensors
/// or dimensions does not match the types; `rule_c3` a factor has several sizes; `rule_c4` only
/// some results have a factor of the operands, although it may be cut.
Expected<ShardingRule> parse_sharding_rule(std::string_view text, std::span<const Type> operands,
                                           std::span<const Type> results);

}  // namespace hostir
