#include "hostir/ops/apply.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/builder.h"
#include "hostir/ops/host.h"
#include "hostir/ops/loops.h"
#include "hostir/ops/unroll_loops.h"

namespace hostir {

namespace ops {

IndexExpr with_sizes(const IndexExpr& size, const NamedSizes& sizes) {
  if (size.kind() == IndexExpr::Kind::kSize) {
    const auto known = sizes.find(size.symbol());
    return known == sizes.end() ? size : known->second;
  }
  if (size.args().size() != 2) return size;
  return IndexExpr::binary(size.kind(), with_sizes(size.args()[0], sizes),
                           with_sizes(size.args()[1], sizes))
      .simplified();
}

Type with_sizes(const Type& type, const NamedSizes& sizes) {
  Type out = type;
  if (auto* tensor = std::get_if<TensorType>(&out)) {
    for (IndexExpr& e : tensor->shape) e = with_sizes(e, sizes);
  }
  return out;
}

Attributes with_sizes(const Attributes& attributes, const NamedSizes& sizes) {
  Attributes out = attributes;
  for (const auto& [name, value] : attributes.entries()) {
    Attribute bound = value;
    if (auto* e = std::get_if<IndexExpr>(&bound)) *e = with_sizes(*e, sizes);
    if (auto* list = std::get_if<ExprList>(&bound)) {
      for (IndexExpr& e : *list) e = with_sizes(e, sizes);
    }
    if (auto* t = std::get_if<Type>(&bound)) *t = with_sizes(*t, sizes);
    out.set(name, std::move(bound));
  }
  return out;
}

Violated bind_arguments(const Function& callee, std::span<const Type> arguments,
                        NamedSizes& sizes) {
  if (arguments.size() != callee.params.size()) {
    return Violation{fmt::format("@{} takes {} arguments, {} are given", callee.name,
                                 callee.params.size(), arguments.size())};
  }
  const auto wanted = [&](size_t a) -> const Value& {
    return callee.value(callee.params[a].value);
  };
  const auto mismatch = [&](size_t a, const std::string& why) {
    return Violation{
        fmt::format("@{} takes {} as %{}, the argument is {}{}", callee.name,
                    short_text(wanted(a).type), wanted(a).name, short_text(arguments[a]), why),
        static_cast<int>(a)};
  };
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (!is_tensor(wanted(a).type) || !is_tensor(arguments[a])) return mismatch(a, "");
    const Shape& shape = shape_of(wanted(a).type);
    const Shape& given = shape_of(arguments[a]);
    if (shape.size() != given.size() || dtype_of(wanted(a).type) != dtype_of(arguments[a]))
      return mismatch(a, "");
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].kind() != IndexExpr::Kind::kSize) continue;
      const auto [at, is_new] = sizes.emplace(shape[d].symbol(), given[d]);
      if (is_new || same_size(at->second, given[d])) continue;
      return mismatch(a, fmt::format(": ?{} is {} and {}", shape[d].symbol(),
                                     at->second.to_string(), given[d].to_string()));
    }
  }
  for (size_t a = 0; a < arguments.size(); ++a) {
    const Shape& given = shape_of(arguments[a]);
    for (size_t d = 0; d < given.size(); ++d) {
      const IndexExpr size = with_sizes(shape_of(wanted(a).type)[d], sizes);
      if (!same_size(size, given[d]))
        return mismatch(a, fmt::format(": dimension {} must be {}", d, size.to_string()));
    }
  }
  return std::nullopt;
}

std::string result_name(const Function& function, size_t result) {
  if (!function.results[result].name.empty()) return function.results[result].name;
  const std::vector<InstrId>& body = function.region(function.body).instructions;
  if (body.empty()) return {};
  const Instruction& last = function.instr(body.back());
  const bool has = result < last.operands.size() && last.operands[result].value.valid();
  return has ? function.value(last.operands[result].value).name : std::string();
}

void add_applied(const Program& from, const Function& fusion, Program& to) {
  for (const Instruction& i : fusion.instructions) {
    const auto* callee = i.attributes.get<Symbol>("callee");
    const Function* kernel = callee == nullptr ? nullptr : from.find_function(callee->name);
    if (kernel == nullptr || to.find_function(callee->name) != nullptr) continue;
    to.add_function(*kernel).gradient.clear();
  }
}

namespace {

// A loop's variables could have names that are taken where the fusion is inlined, so its passes are
// written out.
Expected<Function> without_loops(const Function& fusion, const NamedSizes& sizes) {
  Function bound = fusion;
  if (!has_loops(bound)) return bound;
  for (Value& v : bound.values) v.type = with_sizes(v.type, sizes);
  for (Instruction& i : bound.instructions) i.attributes = with_sizes(i.attributes, sizes);
  HOSTIR_ASSIGN_OR_RETURN(Unrolled unrolled, unroll_loops(bound));
  return std::move(unrolled.function);
}

}  // namespace

Values Builder::inlined(const Function& given, const Values& arguments) {
  if (error_) return Values(given.results.size());
  std::vector<Type> types;
  for (const ValueId v : arguments) types.push_back(type(v));
  NamedSizes sizes;
  if (const Violated bad = bind_arguments(given, types, sizes)) {
    fail(Error{ErrorKind::kInvalid,
               {{Severity::kError, "grad_c1", bad->message, call_.name_span, {}}}});
    return Values(given.results.size());
  }
  Expected<Function> straight = without_loops(given, sizes);
  if (!straight) {
    fail(std::move(straight.error()));
    return Values(given.results.size());
  }
  const Function& fusion = *straight;
  Values map(fusion.values.size());
  for (size_t p = 0; p < arguments.size(); ++p) map[fusion.params[p].value.index] = arguments[p];
  Values returned;
  for (const InstrId id : fusion.region(fusion.body).instructions) {
    Instruction i = fusion.instr(id);
    for (Operand& o : i.operands) {
      if (o.value.valid()) o.value = map[o.value.index];
    }
    if (i.kind == OpKind::return_) {
      for (const Operand& o : i.operands) returned.push_back(o.value);
      break;
    }
    i.attributes = with_sizes(i.attributes, sizes);
    i.comments = {};
    i.from = call_.from;
    i.span = call_.span;
    i.name_span = call_.name_span;
    for (ValueId& r : i.results) {
      const Value& value = fusion.value(r);
      const ValueId made =
          function_.add_value(fresh_(stem_ + "_" + value.name), with_sizes(value.type, sizes));
      map[r.index] = made;
      r = made;
    }
    function_.add_instruction(region_, std::move(i));
  }
  return returned;
}

}  // namespace ops

namespace {

ops::Violated check_applied(const OpCall& call) {
  if (call.function != nullptr && call.function->kind == FunctionKind::kKernel) {
    return Violation{
        "a kernel cannot apply another one; write the other kernel's ops here, or apply both in "
        "the "
        "fusion"};
  }
  const Function* callee = ops::named_function(call, "callee");
  const auto* symbol = call.attributes.get<Symbol>("callee");
  const std::string name = symbol != nullptr ? symbol->name : "";
  if (callee == nullptr) return Violation{fmt::format("there is no kernel @{}", name)};
  if (callee->kind != FunctionKind::kKernel) {
    return Violation{fmt::format("@{} is a {}; apply runs a kernel", name,
                                 callee->kind == FunctionKind::kHost ? "host function" : "fusion")};
  }
  if (!callee->rule.empty()) return std::nullopt;
  return Violation{fmt::format(
      "kernel @{} has no sharding rule; write one after its results, as in rule \"([i,k],[k,j])->"
      "([i,j])\"",
      name)};
}

ops::Violated check_applied_arguments(const OpCall& call) {
  if (check_applied(call)) return std::nullopt;
  const Function& callee = *ops::named_function(call, "callee");
  ops::NamedSizes sizes;
  if (ops::Violated bad = ops::bind_arguments(callee, call.operands, sizes)) return bad;
  for (size_t r = 0; r < callee.results.size(); ++r) {
    if (!is_tensor(callee.results[r].type)) continue;  // reported at the kernel
    std::string unknown;
    for (const IndexExpr& size : shape_of(callee.results[r].type)) {
      size.for_each_leaf([&](const IndexExpr& leaf) {
        if (sizes.count(leaf.symbol()) == 0) unknown = leaf.to_string();
      });
    }
    if (unknown.empty()) continue;
    return Violation{
        fmt::format("the size {} of result %{} of @{} does not follow from its "
                    "parameters; no dimension of a parameter is {}",
                    unknown, ops::result_name(callee, r), callee.name, unknown)};
  }
  return std::nullopt;
}

ops::Violated check_applied_results(const OpCall& call) {
  if (check_applied(call) || call.instruction == nullptr) return std::nullopt;
  const Function& callee = *ops::named_function(call, "callee");
  const size_t named = call.instruction->results.size();
  // A pass infers types before it names results.
  if (named == 0 || named == callee.results.size()) return std::nullopt;
  return Violation{fmt::format("@{} has {} results, {} named", callee.name, callee.results.size(),
                               named == 1 ? "1 is" : fmt::format("{} are", named))};
}

Expected<std::vector<Type>> infer_apply(const OpCall& call) {
  const Function& callee = *ops::named_function(call, "callee");
  ops::NamedSizes sizes;
  static_cast<void>(ops::bind_arguments(callee, call.operands, sizes));
  std::vector<Type> types;
  for (const ResultDecl& r : callee.results) {
    Type type = ops::with_sizes(r.type, sizes);
    if (auto* tensor = std::get_if<TensorType>(&type)) tensor->sharding.reset();
    types.push_back(std::move(type));
  }
  return types;
}

Expected<ShardingRule> apply_rule(const OpCall& call, std::span<const Type> results) {
  const Function* callee = ops::named_function(call, "callee");
  if (callee == nullptr || callee->rule.empty()) {
    return fail(ErrorKind::kInvalid, "apply_c1", "apply names no kernel with a sharding rule");
  }
  return parse_sharding_rule(callee->rule, call.operands, results);
}

// The types with local extents; nullopt unless the parameters bind all sizes.
std::optional<Extents> local_extents(const Type& type, const ops::NamedSizes& sizes) {
  return constant_extents(shape_of(ops::with_sizes(type, sizes)));
}

Cost apply_cost(const OpCall& call, std::span<const Extents> operands,
                std::span<const Extents> results) {
  const double bytes_only = results.empty() ? 0 : ops::element_count_of(results[0]);
  const Function* callee = ops::named_function(call, "callee");
  if (callee == nullptr || callee->params.size() != operands.size())
    return ops::memory_cost(call, operands, results, bytes_only);
  ops::NamedSizes sizes;
  for (size_t p = 0; p < operands.size(); ++p) {
    const Shape& shape = shape_of(callee->value(callee->params[p].value).type);
    for (size_t d = 0; d < shape.size() && d < operands[p].size(); ++d) {
      if (shape[d].kind() == IndexExpr::Kind::kSize)
        sizes.emplace(shape[d].symbol(), operands[p][d]);
    }
  }
  double flops = 0;
  for (const Instruction& i : callee->instructions) {
    const OpRecord& op = record(i.kind);
    if (op.op_class != OpClass::kCompute || op.cost == nullptr) continue;
    std::vector<Extents> in;
    std::vector<Extents> out;
    for (const Operand& o : i.operands) {
      const auto extents =
          o.value.valid() ? local_extents(callee->value(o.value).type, sizes) : std::nullopt;
      if (extents) in.push_back(*extents);
    }
    for (const ValueId r : i.results) {
      if (const auto extents = local_extents(callee->value(r).type, sizes)) out.push_back(*extents);
    }
    if (in.size() != i.operands.size() || out.size() != i.results.size()) continue;
    const std::vector<Type> types = operand_types(*callee, i);
    const std::vector<Type> written = written_types(*callee, i);
    flops +=
        op.cost({i.kind, types, i.attributes, &i, callee, call.program, written}, in, out).flops;
  }
  return ops::memory_cost(call, operands, results, flops);
}

// An argument of the gradient, by the name of its parameter.
ValueId gradient_argument(ops::Builder& b, const Function& callee,
                          std::span<const ValueId> cotangents, const std::string& name) {
  for (size_t r = 0; r < callee.results.size(); ++r) {
    const std::string result = ops::result_name(callee, r);
    if (name == "d_" + result)
      return cotangents[r].valid() ? cotangents[r] : b.zeros_like(b.result(r));
    if (name == result) return b.result(r);
  }
  for (size_t p = 0; p < callee.params.size(); ++p) {
    if (callee.value(callee.params[p].value).name == name) return b.arg(p);
  }
  return {};
}

std::vector<ValueId> apply_vjp(ops::Builder& b, std::span<const ValueId> cotangents) {
  const auto* symbol = b.attributes().get<Symbol>("callee");
  const Function* callee = b.program().find_function(symbol->name);
  const Function* gradient =
      callee == nullptr ? nullptr : b.program().find_function(callee->gradient);
  std::vector<ValueId> out(b.call().operands.size());
  if (gradient == nullptr) {
    b.fail(Error{ErrorKind::kInvalid,
                 {{Severity::kError,
                   "grad_c1",
                   fmt::format("kernel @{} has no gradient; name a kernel or fusion after its "
                               "rule, as in gradient @{}_grad",
                               symbol->name, symbol->name),
                   b.call().name_span,
                   {}}}});
    return out;
  }
  ops::Values arguments;
  for (const Parameter& p : gradient->params) {
    arguments.push_back(gradient_argument(b, *callee, cotangents, gradient->value(p.value).name));
    if (!arguments.back().valid()) return out;  // reported at the kernel
  }
  const ops::Values made =
      gradient->kind == FunctionKind::kFusion
          ? b.inlined(*gradient, arguments)
          : b.ops(OpKind::apply, arguments, ops::attrs({{"callee", Symbol{gradient->name}}}),
                  gradient->results.size(), gradient->name);
  for (size_t r = 0; r < made.size() && r < gradient->results.size(); ++r) {
    for (size_t p = 0; p < callee->params.size(); ++p) {
      const std::string& name = callee->value(callee->params[p].value).name;
      if (ops::result_name(*gradient, r) == "d_" + name) out[p] = made[r];
    }
  }
  return out;
}

}  // namespace

OpRecord op_apply() {
  return {
      .mnemonic = "apply",
      .shape = OpShape::kIndexed,
      .summary = "Runs a kernel of the file that has its own sharding rule.",
      .doc = {.shapes = "The shapes of the kernel, with its size names bound by the arguments.",
              .sharding = "The kernel's rule. Each rank runs the body on its parts of the operands "
                          "as if these were whole; results are partial if a reduction of the rule "
                          "is cut, and are then reduced.",
              .dtypes = "The dtypes of the kernel.",
              .errors = "A rule that promises more than the body does gives wrong values: "
                        "--check-unsharded shows them.",
              .cost =
                  "The flops of the body's ops; reads the arguments and writes the results once "
                  "(bytes)."},
      .operands = {{.name = "arguments",
                    .doc = "bound to the kernel's parameters",
                    .arity = OperandSpec::Arity::kVariadic}},
      .attributes = {{.name = "callee",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "a kernel with a rule",
                      .required = true}},
      .results = {{.name = "results", .doc = "the kernel's results"}},
      .constraints = {{"apply_c1", "The symbol names a kernel with a sharding rule, in a fusion.",
                       check_applied},
                      {"apply_c2",
                       "The arguments have the dtypes and shapes of the parameters, and give all "
                       "sizes of the results.",
                       check_applied_arguments},
                      {"apply_c3", "Every result of the kernel has a name.",
                       check_applied_results}},
      .infer = infer_apply,
      .rule = apply_rule,
      .cost = apply_cost,
      .gradient = "the function that the kernel names: `gradient @g`",
      .vjp = apply_vjp,
      .example = R"hir(mesh @m = <tp=2>
kernel @scaled(%x: tensor<?Nx?Kxf32>, %s: tensor<?Nxf32>) -> (%y: tensor<?Nx?Kxf32>) rule "([i,k],[i])->([i,k])" {
  %w = broadcast_in_dim %s {dims = [0], shape = [?N, ?K]}
  %y = mul %x, %w
  return %y
}
fusion @f(%x: tensor<4x8xf32> <@m, [{tp}, {}]>, %s: tensor<4xf32>) -> (%y: tensor<4x8xf32>) {
  %y = apply @scaled(%x, %s)
  return %y
})hir",
      .source = "Shardy's sharding rules of custom calls",
      .assembly = "#callee($arguments) <: type>",
  };
}

}  // namespace hostir
