#include <fmt/core.h>

#include "hostir/ops/host.h"
#include "hostir/ops/loops.h"

namespace hostir {

namespace {

bool in_fusion(const OpCall& call) {
  return call.function != nullptr && call.function->kind == FunctionKind::kFusion;
}

const Type& yielded_type(const OpCall& call, const Instruction& yield, size_t index) {
  static const Type kEvent = EventType{};  // of `none`
  const ValueId value = yield.operands[index].value;
  return value.valid() ? call.function->value(value).type : kEvent;
}

bool is_unknown(const Type& type) { return std::holds_alternative<NoType>(type); }

ops::Violated check_yielded_count(const OpCall& call) {
  if (call.function == nullptr) return std::nullopt;
  const Instruction* yield = ops::closing_yield(call, 0);
  const size_t carried = call.instruction->operands.size();
  if (yield == nullptr) {
    if (carried == 0 && !in_fusion(call)) return std::nullopt;
    return Violation{
        fmt::format("the loop carries {} value{}, but its region does not end with yield", carried,
                    carried == 1 ? "" : "s")};
  }
  const size_t yielded = yielded_values(*yield).size();
  if (yielded == carried || (yielded > carried && in_fusion(call))) return std::nullopt;
  return Violation{fmt::format("the loop carries {} value{} and yields {}", carried,
                               carried == 1 ? "" : "s", yielded)};
}

// Buffers of host functions keep their layouts, and an event is replaced by an event.
bool may_replace(const OpCall& call, const Type& before, const Type& after) {
  if (in_fusion(call)) {
    return is_tensor(before) && is_tensor(after) && dtype_of(before) == dtype_of(after) &&
           ops::same_shape(shape_of(before), shape_of(after));
  }
  return is_tensor(before) ? ops::may_bind(before, after) : before.index() == after.index();
}

ops::Violated check_yielded_types(const OpCall& call) {
  const Instruction* yield = ops::closing_yield(call, 0);
  if (yield == nullptr) return std::nullopt;
  const Region& body = call.function->region(call.instruction->regions.front());
  const std::vector<Type> before = ops::handed_over(call, *call.instruction);
  for (size_t i = 0; i < before.size(); ++i) {
    const Type& after = yielded_type(call, *yield, i);
    if (is_unknown(before[i]) || is_unknown(after) || may_replace(call, before[i], after)) continue;
    return Violation{fmt::format("%{} is {}, but the loop yields {} for it; a carried value keeps "
                                 "its shape and dtype",
                                 call.function->value(body.arguments[i + 1]).name,
                                 ops::short_text(before[i]), ops::short_text(after)),
                     static_cast<int>(i)};
  }
  return std::nullopt;
}

// The number of passes: upper - lower, but not negative.
IndexExpr passes_of(const OpCall& call) {
  const IndexExpr& lower = *call.attributes.get<IndexExpr>("lower");
  const IndexExpr& upper = *call.attributes.get<IndexExpr>("upper");
  IndexExpr passes = IndexExpr::binary(IndexExpr::Kind::kSub, upper, lower).simplified();
  const bool not_negative =
      passes.is_const() ? passes.value() >= 0 : passes.kind() == IndexExpr::Kind::kSize;
  return not_negative ? passes
                      : IndexExpr::binary(IndexExpr::Kind::kMax, std::move(passes), 0).simplified();
}

ops::Violated check_stacked(const OpCall& call) {
  const Instruction* yield = ops::closing_yield(call, 0);
  if (yield == nullptr) return std::nullopt;
  const Region& body = call.function->region(call.instruction->regions.front());
  const std::string& variable = call.function->value(body.arguments.front()).name;
  for (size_t i = call.instruction->operands.size(); i < yielded_values(*yield).size(); ++i) {
    const Type& type = yielded_type(call, *yield, i);
    if (is_unknown(type)) continue;
    if (!is_tensor(type)) return Violation{"a stacked value must be a tensor"};
    for (const IndexExpr& size : shape_of(type)) {
      if (!mentions(size, variable)) continue;
      return Violation{
          fmt::format("%{} is {}: its size differs from pass to pass, so it cannot be stacked",
                      call.function->value(yield->operands[i].value).name, ops::short_text(type))};
    }
  }
  return std::nullopt;
}

ops::Violated check_condition(const OpCall& call) {
  const Instruction* yield = ops::closing_yield(call, 0);
  const ValueId condition = yield == nullptr ? ValueId() : condition_of(*yield);
  if (!condition.valid()) return std::nullopt;
  const Type& type = call.function->value(condition).type;
  if (!in_fusion(call))
    return Violation{"only the loop of a fusion yields while a condition holds"};
  if (is_unknown(type)) return std::nullopt;
  if (dtype_of(type) != DType::kI1 || !shape_of(type).empty()) {
    return Violation{fmt::format("the condition %{} is {}, it must be one i1: i1[]",
                                 call.function->value(condition).name, ops::short_text(type))};
  }
  if (yielded_values(*yield).size() == call.instruction->operands.size()) return std::nullopt;
  return Violation{
      "a loop with a condition stacks nothing, because its passes are not counted: "
      "carry the stack, and write into it with dynamic_update_slice"};
}

Expected<std::vector<Type>> infer_for(const OpCall& call) {
  std::vector<Type> types = ops::handed_over(call, *call.instruction);
  if (!in_fusion(call)) return types;
  // Each pass may cut a carried value in another way, so a fusion's loop promises no sharding.
  for (Type& type : types) type = without_sharding(std::move(type));
  const Instruction* yield = ops::closing_yield(call, 0);
  for (size_t i = types.size(); i < yielded_values(*yield).size(); ++i) {
    const Type& one = yielded_type(call, *yield, i);
    if (!is_tensor(one)) {
      types.emplace_back(NoType{});
      continue;
    }
    Shape shape = shape_of(one);
    shape.insert(shape.begin(), passes_of(call));
    types.push_back(ops::tensor(dtype_of(one), std::move(shape)));
  }
  return types;
}

ops::Violated check_only_in_fusions(const OpCall& call) {
  if (call.function == nullptr || in_fusion(call)) return std::nullopt;
  for (const std::string_view word : {"order", "backward"}) {
    const auto* given = call.attributes.get<Keyword>(word);
    if (given == nullptr) continue;
    return Violation{
        fmt::format("only the loop of a fusion may be {}: count upwards here, and "
                    "compute with upper - 1 - %i",
                    given->word)};
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_for_() {
  return {
      .mnemonic = "for",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kLoop,
      .summary = "Repeats a region for an index from lower to below upper, carrying values along.",
      .doc = {.shapes = "A carried value keeps its shape. In a fusion, what is yielded beyond the "
                        "carried values is stacked: a result with a leading dimension of one "
                        "element per pass, in the order of the index.",
              .sharding = "Carried buffers keep their layouts. In a fusion, each pass has its own "
                          "values, so propagation may cut them differently.",
              .dtypes = "Carried values keep their dtypes.",
              .errors = "loop_size, in a fusion: the number of passes is not known, or too high.",
              .cost = "Host issue cost per iteration (ns). The loop of a fusion is written out "
                      "pass by pass, and costs what its ops cost."},
      .operands = {{.name = "carry",
                    .doc = "initial values of what is carried; none is a complete event",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "lower",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the first index",
                      .required = true},
                     {.name = "upper",
                      .type = AttributeSpec::Type::kExpr,
                      .doc = "the index before which it ends",
                      .required = true},
                     {.name = "order",
                      .type = AttributeSpec::Type::kKeyword,
                      .doc = "reversed: the index runs from upper - 1 down to lower; in fusions",
                      .keywords = {"reversed"}},
                     {.name = "backward",
                      .type = AttributeSpec::Type::kKeyword,
                      .doc =
                          "recompute: a gradient keeps only the carried values of each pass, and "
                          "computes the others again; in fusions",
                      .keywords = {"recompute"}}},
      .results = {{.name = "carried",
                   .doc = "what the last pass yields, or the initial values; then stacks"}},
      .constraints = {{"for_c1",
                       "The region ends with yield, which has a value for each carried one; more "
                       "only in fusions.",
                       check_yielded_count},
                      {"for_c2", "A value is yielded with the type of the one it replaces.",
                       check_yielded_types},
                      {"for_c3", "Stacked values have one shape in all passes.", check_stacked},
                      {"for_c4", "Only the loop of a fusion is reversed or has a gradient.",
                       check_only_in_fusions},
                      {"for_c5",
                       "The condition of yield is one i1, in the loop of a fusion that stacks "
                       "nothing.",
                       check_condition}},
      .infer = infer_for,
      .gradient = "a loop in the opposite order, over values that the loop keeps or recomputes",
      .example =
          R"(fusion @f(%x: tensor<4x8xf32>, %ws: tensor<?Lx8x8xf32>) -> (%y: tensor<4x8xf32>) {
  %y = for %i in 0..?L carry(%h = %x) {
    %w = at %ws[%i]
    %a = matmul %h, %w
    %b = tanh %a
    yield %b
  }
  return %y
})",
      .source = "MLIR's scf.for; the stacked results of JAX's lax.scan",
      .assembly = "&index in #lower..#upper <carry(&=$carry)> <#order> <#backward> region",
  };
}

}  // namespace hostir
