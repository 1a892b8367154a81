#include "hostir/ops/sharding_rule.h"

#include <fmt/core.h>

#include "hostir/support/lists.h"

namespace hostir {

namespace {

bool holds(const std::vector<ShardingRule::TensorFactors>& tensors, int factor) {
  for (const auto& tensor : tensors) {
    for (const auto& dim : tensor) {
      if (contains(dim, factor)) return true;
    }
  }
  return false;
}

void append_tensors(std::string& out, const std::vector<ShardingRule::TensorFactors>& tensors) {
  out += "(";
  for (size_t t = 0; t < tensors.size(); ++t) {
    out += t == 0 ? "[" : ", [";
    for (size_t d = 0; d < tensors[t].size(); ++d) {
      if (d != 0) out += ", ";
      for (const int factor : tensors[t][d]) out += factor_name(factor);
    }
    out += "]";
  }
  out += ")";
}

void append_set(std::string& out, std::string_view name, const std::vector<int>& factors) {
  if (factors.empty()) return;
  out += fmt::format(" {}={{", name);
  for (size_t i = 0; i < factors.size(); ++i) {
    out += (i == 0 ? "" : ", ") + factor_name(factors[i]);
  }
  out += "}";
}

}  // namespace

std::string factor_name(int factor) {
  constexpr int kLetters = 'z' - 'i' + 1;
  if (factor < kLetters) return std::string(1, static_cast<char>('i' + factor));
  return fmt::format("z_{}", factor - kLetters + 1);
}

bool ShardingRule::must_replicate(int factor) const {
  if (contains(replicated, factor) || contains(permutation, factor)) return true;
  return holds(operands, factor) && !holds(results, factor) && !contains(reduction, factor);
}

std::string ShardingRule::to_string() const {
  std::string out;
  append_tensors(out, operands);
  out += "->";
  append_tensors(out, results);
  if (factor_sizes.empty()) return out;
  out += " {";
  for (int f = 0; f < factor_count(); ++f) {
    out += fmt::format("{}{}={}", f == 0 ? "" : ", ", factor_name(f),
                       factor_sizes[static_cast<size_t>(f)].to_string());
  }
  out += "}";
  const bool plain_sum = reduction_kind == Reduction::kSum;
  append_set(out, "reduction", reduction);
  if (!plain_sum && !reduction.empty()) {
    out.insert(out.rfind("reduction=") + 10, std::string(name(reduction_kind)));
  }
  append_set(out, "need_replication", replicated);
  append_set(out, "permutation", permutation);
  return out;
}

}  // namespace hostir
