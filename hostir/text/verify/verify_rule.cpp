// Verifies the parts of a kernel that let a fusion use it as an op: its sharding rule and its
// gradient.
#include <algorithm>

#include "hostir/ops/apply.h"
#include "hostir/ops/host.h"
#include "hostir/ops/partial_results.h"
#include "hostir/support/lists.h"
#include "hostir/text/suggest.h"
#include "hostir/text/verify/verify_function.h"

namespace hostir::text {

namespace {

bool appears(const std::vector<ShardingRule::TensorFactors>& tensors, int factor) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const auto& dims) {
    return std::any_of(dims.begin(), dims.end(),
                       [&](const auto& dim) { return contains(dim, factor); });
  });
}

bool mentions(const IndexExpr& size, std::string_view name) {
  bool found = false;
  size.for_each_leaf([&](const IndexExpr& leaf) { found = found || leaf.symbol() == name; });
  return found;
}

bool is_real_buffer(const Type& type) { return is_tensor(type) && is_float(dtype_of(type)); }

}  // namespace

void FunctionVerifier::check_rule() {
  if (function_.rule.empty() || is_broken()) return;
  std::vector<Type> operands;
  std::vector<Type> results;
  for (const Parameter& p : function_.params) operands.push_back(function_.value(p.value).type);
  for (const ResultDecl& r : function_.results) results.push_back(r.type);
  if (!std::all_of(operands.begin(), operands.end(), is_tensor) ||
      !std::all_of(results.begin(), results.end(), is_tensor)) {
    return;
  }
  const auto rule = parse_sharding_rule(function_.rule, operands, results);
  if (!rule) {
    context_.error("function_c4", rule.error().message(), function_.rule_span);
    return;
  }
  bool fits = true;
  const auto wrong = [&](const std::string& what) {
    context_.error("function_c4", "sharding rule: " + what, function_.rule_span);
    fits = false;
  };
  const std::vector<std::string> names = written_factors(function_.rule);
  for (int f = 0; f < rule->factor_count(); ++f) {
    const std::string& letter = names[static_cast<size_t>(f)];
    const std::string name = "factor " + letter;
    const bool whole = contains(rule->replicated, f) || contains(rule->permutation, f);
    const bool reduced = contains(rule->reduction, f);
    const bool in_result = appears(rule->results, f);
    bool adds_up = false;
    for (size_t r = 0; r < rule->results.size(); ++r)
      adds_up = adds_up || leaves_partial(*rule, f, r);
    if (whole && reduced) {
      wrong(name + " is both reduced and never cut");
    } else if (reduced && !adds_up) {
      wrong(name +
            " is reduced and a dimension of every result; only results without it are added up");
    } else if (!whole && !reduced && !in_result) {
      wrong(name + " is not in a result: write reduction={" + letter +
            "} if the results of its parts are to be added up, else need_replication={" + letter +
            "}");
    } else if (!whole && !appears(rule->operands, f)) {
      wrong(name +
            " is not in any operand, so no rank knows which part to compute: write "
            "need_replication={" +
            letter + "}");
    }
  }
  if (fits) check_cuttable_sizes(*rule);
  check_gradient();
}

// The body runs on parts, so its sizes must be free: each factor that may be cut needs its own size
// name.
void FunctionVerifier::check_cuttable_sizes(const ShardingRule& rule) {
  const std::vector<std::string> names = written_factors(function_.rule);
  for (int f = 0; f < rule.factor_count(); ++f) {
    if (rule.must_replicate(f)) continue;
    const IndexExpr& size = rule.factor_sizes[static_cast<size_t>(f)];
    const std::string name = "sharding rule: factor " + names[static_cast<size_t>(f)];
    const std::string whole = "need_replication={" + names[static_cast<size_t>(f)] + "}";
    if (size.kind() != IndexExpr::Kind::kSize) {
      context_.error("function_c4",
                     name + " has the size " + size.to_string() + " in @" + function_.name +
                         ", but a rank's part of it is smaller: use a size name, as in "
                         "tensor<?Nxf32>, or write " +
                         whole,
                     function_.rule_span);
      continue;
    }
    for (int other = 0; other < rule.factor_count(); ++other) {
      if (other == f || !mentions(rule.factor_sizes[static_cast<size_t>(other)], size.symbol()))
        continue;
      if (other < f && !rule.must_replicate(other)) continue;  // reported there
      context_.error(
          "function_c4",
          name + " has the size " + size.to_string() + ", on which the size of factor " +
              names[static_cast<size_t>(other)] +
              " also depends, but only one of them may be cut: use separate size names, or write " +
              whole,
          function_.rule_span);
      break;
    }
  }
}

void FunctionVerifier::check_gradient() {
  if (function_.gradient.empty()) return;
  const Function* gradient = context_.program.find_function(function_.gradient);
  const auto wrong = [&](const std::string& what) {
    context_.error("function_c8", "gradient of @" + function_.name + ": " + what,
                   function_.gradient_span);
  };
  if (gradient == nullptr) {
    if (context_.is_broken_symbol(function_.gradient)) return;
    Diagnostic& d = context_.error("symbol_c2", "unknown symbol @" + function_.gradient,
                                   function_.gradient_span);
    std::vector<std::string> names;
    for (const Function& f : context_.program.functions) names.push_back(f.name);
    suggest(d, function_.gradient, names, "@");
    return;
  }
  if (gradient->kind == FunctionKind::kHost) {
    return wrong("@" + gradient->name + " is a host function; a kernel or a fusion computes it");
  }
  if (gradient->kind == FunctionKind::kKernel && gradient->rule.empty()) {
    return wrong("kernel @" + gradient->name +
                 " has no sharding rule; write one after its results");
  }
  check_gradient_types(*gradient);
}

// Parameters are found by name: the kernel's parameters and results, and `d_` and the name of a
// result. Results are `d_` and the name of a parameter.
void FunctionVerifier::check_gradient_types(const Function& gradient) {
  const auto wrong = [&](const std::string& what) {
    context_.error("function_c8", "gradient of @" + function_.name + ": " + what,
                   function_.gradient_span);
  };
  std::map<std::string, Type> known;
  std::map<std::string, Type> wanted;
  for (const Parameter& p : function_.params) {
    const Value& value = function_.value(p.value);
    known.emplace(value.name, value.type);
    if (is_real_buffer(value.type)) wanted.emplace("d_" + value.name, value.type);
  }
  for (size_t r = 0; r < function_.results.size(); ++r) {
    const std::string name = ops::result_name(function_, r);
    known.emplace(name, function_.results[r].type);
    if (is_real_buffer(function_.results[r].type)) known["d_" + name] = function_.results[r].type;
  }
  std::vector<Type> arguments;
  for (const Parameter& p : gradient.params) {
    const std::string& name = gradient.value(p.value).name;
    const auto at = known.find(name);
    if (at == known.end()) {
      return wrong("%" + name + " of @" + gradient.name +
                   " is neither a parameter nor a result of @" + function_.name +
                   ", nor %d_ and the name of a floating-point result");
    }
    arguments.push_back(at->second);
  }
  ops::NamedSizes sizes;
  if (const auto bad = ops::bind_arguments(gradient, arguments, sizes)) return wrong(bad->message);
  for (size_t r = 0; r < gradient.results.size(); ++r) {
    const std::string name = ops::result_name(gradient, r);
    const auto at = wanted.find(name);
    if (at == wanted.end()) {
      return wrong("%" + name + ", which @" + gradient.name +
                   " gives, is not %d_ and the name of a floating-point parameter of @" +
                   function_.name);
    }
    const Type type = ops::with_sizes(gradient.results[r].type, sizes);
    if (!same_shape_and_dtype(type, at->second)) {
      return wrong("%" + name + " is " + ops::short_text(type) + ", the parameter is " +
                   ops::short_text(at->second));
    }
    wanted.erase(at);
  }
  for (const auto& [name, type] : wanted) {
    wrong("@" + gradient.name + " does not give %" + name);
  }
}

}  // namespace hostir::text
