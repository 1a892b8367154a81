#include "hostir/passes/propagate/propagation_memory.h"

#include <algorithm>

#include "hostir/ir/axes.h"

namespace hostir {

namespace {

void append_list(const std::vector<int>& numbers, std::string& key) {
  append_number(static_cast<uint32_t>(numbers.size()), key);
  for (const int n : numbers) append_number(n, key);
}

void append_tensors(const std::vector<ShardingRule::TensorFactors>& tensors, std::string& key) {
  append_number(static_cast<uint32_t>(tensors.size()), key);
  for (const ShardingRule::TensorFactors& tensor : tensors) {
    append_number(static_cast<uint32_t>(tensor.size()), key);
    for (const ShardingRule::DimFactors& dim : tensor) append_list(dim, key);
  }
}

void append_axes_to_key(const AxisList& axes, std::string& key) {
  for (const AxisRef& axis : axes) {
    key += axis.name;
    key += ':';
    append_number(axis.pre, key);
    append_number(axis.size, key);
  }
  key += ';';
}

}  // namespace

// A long fusion has tens of thousands of these; a format string would take longer.
ExplainRecord explained(const PropagationEdge& edge, const AxesMove& move,
                        const std::string& target, const std::string& source) {
  const bool from_operand = move.source < edge.operand_count;
  const bool to_operand = move.tensor < edge.operand_count;
  const char* role = from_operand && !to_operand   ? ", an operand"
                     : !from_operand && to_operand ? ", a result"
                                                   : ", another operand";
  std::string cut = axes_to_string(move.added.empty() ? move.axes : move.added);
  if (move.unit != 1) cut += " of " + std::to_string(move.unit);
  return {.value = target,
          .what = cut + " on dimension " + std::to_string(move.dim),
          .sentence = edge.mnemonic + " at " + edge.where + " shares factor " +
                      factor_name(move.factor) + " with %" + source + role,
          .from = "%" + source,
          .pass = "propagate"};
}

uint32_t PropagationMemory::kind_of(const PropagationEdge& edge, std::span<const double> elems) {
  std::string key;
  const ShardingRule& rule = *edge.rule;
  append_tensors(rule.operands, key);
  append_tensors(rule.results, key);
  append_list(rule.reduction, key);
  append_list(rule.replicated, key);
  append_list(rule.permutation, key);
  append_list(edge.forwards, key);
  append_number(edge.operand_count, key);
  append_number(edge.shape, key);
  for (const double n : elems) append_number(n, key);
  for (const size_t tensor : edge.tensors) {  // two operands may be one value
    const auto first = std::find(edge.tensors.begin(), edge.tensors.end(), tensor);
    append_number(first - edge.tensors.begin(), key);
  }
  for (const IndexExpr& size : rule.factor_sizes) {
    if (size.is_const()) append_number(size.value(), key);
    if (!size.is_const()) key += "?" + size.to_string() + ",";
  }
  for (const AxisList& axes : edge.barred) append_axes_to_key(axes, key);
  return kinds_.of(key);
}

uint32_t PropagationMemory::state_of(const std::vector<DimSharding>& dims, const AxisList& taken) {
  std::string key;
  for (const DimSharding& d : dims) {
    key += d.open ? '?' : '=';
    append_number(d.priority, key);
    append_axes_to_key(d.axes, key);
    append_number(d.unit, key);
  }
  append_axes_to_key(taken, key);
  return states_.of(key);
}

const std::vector<AxesMove>* PropagationMemory::find(const std::string& question) const {
  const auto at = answers_.find(question);
  return at == answers_.end() ? nullptr : &at->second;
}

void PropagationMemory::keep(std::string question, std::vector<AxesMove> moves) {
  answers_.emplace(std::move(question), std::move(moves));
}

}  // namespace hostir
