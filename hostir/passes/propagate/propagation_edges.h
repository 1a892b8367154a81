// The edges along which sharding propagation moves axes: the ops of a fusion, and its returned
// values paired with their declarations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// An op, or a returned value paired with its declaration.
struct PropagationEdge {
  std::shared_ptr<const ShardingRule> rule;  // shared by copies
  std::vector<size_t> tensors;               // operands, then results
  size_t operand_count = 0;
  OpShape shape = OpShape::kPointwise;
  bool single_use = false;  // every operand has a single use
  std::string mnemonic;
  std::string where;             // `@mlp#3`
  std::vector<AxisList> barred;  // AxisHomes::barred(); empty if there are no homes
  std::vector<int> forwards;     // factors whose cut operands do not take from results

  /// The factors of operand or result `t`, an index into `tensors`.
  const ShardingRule::TensorFactors& factors_of(size_t t) const {
    return t < operand_count ? rule->operands[t] : rule->results[t - operand_count];
  }
  bool in_operands(int factor) const;
  bool in_results(int factor) const;
  /// True for an indexed op without reduction, and for a pointwise op or index map whose factors
  /// are all in operands and results. Dimensions of one element do not count, here and below.
  bool passes_through() const;
  /// True for a broadcast with a factor that no operand has.
  bool widens() const;
};

/// The edges of a fusion, in program order. Tensors are numbered as its values, followed by its
/// results. A reshard is an edge like any pointwise op: dimensions that are open on one side follow
/// the other. Errors: those of the ops' sharding rules.
Expected<std::vector<PropagationEdge>> propagation_edges(const Program& program,
                                                         const Function& fusion);

}  // namespace hostir
