#include "hostir/passes/prepare/example_inputs.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "hostir/ops/expand_composites.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

// The number of products that each element of a result adds up; 1 if
// unknown.
int64_t summed_products(const ShardingRule& rule, size_t operand, const IndexExpr::Lookup& sizes) {
  std::set<int> kept;
  for (const auto& result : rule.results) {
    for (const auto& factors : result) kept.insert(factors.begin(), factors.end());
  }
  int64_t out = 1;
  for (const auto& factors : rule.operands[operand]) {
    for (const int factor : factors) {
      if (kept.count(factor) != 0) continue;
      const auto size = rule.factor_sizes[static_cast<size_t>(factor)].evaluate(sizes);
      if (!size || *size < 1) return 1;
      out *= *size;
    }
  }
  return out;
}

bool passes_elements_on(const Instruction& i) {
  return record(i.kind).shape == OpShape::kLayout || i.kind == OpKind::cast ||
         i.kind == OpKind::transpose || i.kind == OpKind::at;
}

}  // namespace

ExampleInputs::ExampleInputs(const Program& program, Function fusion, IndexExpr::Lookup sizes)
    : program_(program), fusion_(std::move(fusion)), sizes_(std::move(sizes)) {
  uses_.resize(fusion_.values.size());
  if (fusion_.kind != FunctionKind::kFusion) return;
  const auto is_computed = [](const OpRecord& op) { return op.mnemonic != "at"; };
  auto expanded = expand_composites(fusion_, Origins::kNone, is_computed);
  if (expanded) fusion_ = std::move(*expanded);
  uses_ = uses_of(fusion_);
}

ValueSpec ExampleInputs::operator()(size_t parameter, uint64_t seed) const {
  constexpr double kIntegers = 8;
  const ValueId value = fusion_.params[parameter].value;
  const DType dtype = dtype_of(fusion_.value(value).type);
  ValueSpec out;
  out.seed = seed;
  if (is_float(dtype)) {
    out.kind = ValueSpec::Kind::kNormal;
    const int64_t fan_in = fan_in_of(value);
    if (fan_in > 1)
      out.b = std::stod(fmt::format("{:.3g}", 1 / std::sqrt(static_cast<double>(fan_in))));
  } else if (dtype == DType::kI1) {
    out.kind = ValueSpec::Kind::kFull;
    out.a = 1;
  } else {
    out.kind = ValueSpec::Kind::kUniform;
    out.b = kIntegers;
  }
  return out;
}

// The fan-in of the first product that takes the value as a right operand; 1 if there is none.
int64_t ExampleInputs::fan_in_of(ValueId value) const {
  for (const InstrId id : uses_[value.index]) {
    const Instruction& i = fusion_.instr(id);
    int64_t fan_in = 1;
    if (passes_elements_on(i)) {
      fan_in = fan_in_of(i.results.front());
    } else if (record(i.kind).shape == OpShape::kContraction && i.operands[1].value == value) {
      const auto rule = rule_of(program_, fusion_, i);
      if (rule) fan_in = summed_products(*rule, 1, sizes_);
    }
    if (fan_in > 1) return fan_in;
  }
  return 1;
}

}  // namespace hostir
