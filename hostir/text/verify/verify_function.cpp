// Verifies signatures, types and instructions; verify_regions.cpp handles regions,
// verify_expressions.cpp sizes and index expressions.
#include "hostir/text/verify/verify_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hostir/ir/access.h"
#include "hostir/ops/value_meshes.h"
#include "hostir/support/lists.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

// True for instructions whose result aliases the memory of the first operand.
bool is_view(OpKind kind) { return kind == OpKind::subview || kind == OpKind::reinterpret; }

bool is_terminator(OpKind kind) { return kind == OpKind::return_ || kind == OpKind::yield; }

ValueId memory_of(const Function& function, ValueId value) {
  while (value.valid() && function.value(value).defined_by.valid()) {
    const Instruction& by = function.instr(function.value(value).defined_by);
    if (!is_view(by.kind) || by.operands.empty()) break;
    value = by.operands.front().value;
  }
  return value;
}

}  // namespace

void FunctionVerifier::run() {
  check_signature();
  if (!function_.body.valid()) return;
  std::vector<ValueId> parameters;
  for (const Parameter& parameter : function_.params) define(parameter.value, parameters);
  walk(function_.region(function_.body));
  check_end();
  if (function_.kind == FunctionKind::kFusion) check_meshes();
  apply_widening();
}

void FunctionVerifier::check_meshes() {
  const ValueMeshes meshes = value_meshes(function_);
  for (const MeshConflict& c : meshes.conflicts) {
    context_.error("mesh_c9", conflict_sentence(function_, meshes, c),
                   function_.instr(c.instruction).name_span);
  }
}

void FunctionVerifier::check_signature() {
  if (is_host()) check_mesh(context_, function_.mesh, function_.name_span);
  for (const Parameter& parameter : function_.params) {
    Value& value = function_.value(parameter.value);
    if (std::holds_alternative<NoType>(value.type)) continue;
    if (!check_is_buffer(value.type, value.span) ||
        !check_type(value.type, value.span, Sizes::kSameOnAllRanks)) {
      value.type = NoType{};
    }
  }
  for (ResultDecl& result : function_.results) {
    if (std::holds_alternative<NoType>(result.type)) continue;
    if (!check_is_buffer(result.type, result.span) ||
        !check_type(result.type, result.span, Sizes::kSameOnAllRanks)) {
      result.type = NoType{};
    }
  }
  check_result_names();
  check_aliases();
  check_rule();
}

void FunctionVerifier::check_result_names() {
  std::set<std::string> names;
  for (const ResultDecl& result : function_.results) {
    if (result.name.empty() || names.insert(result.name).second) continue;
    context_.error("function_c2", "the result %" + result.name + " is declared twice", result.span);
  }
}

void FunctionVerifier::check_aliases() {
  std::map<std::string, std::string> result_of;  // by parameter
  for (const ResultDecl& result : function_.results) {
    if (!result.alias) continue;
    const auto [other, is_first] = result_of.emplace(*result.alias, result.name);
    if (!is_first) {
      context_.error("function_c3",
                     fmt::format("%{} and %{} are both aliases of %{}; only one result can be",
                                 other->second, result.name, *result.alias),
                     result.span);
      continue;
    }
    const auto parameter = std::find_if(
        function_.params.begin(), function_.params.end(),
        [&](const Parameter& p) { return function_.value(p.value).name == *result.alias; });
    if (parameter == function_.params.end()) {
      context_.error("function_c3", "alias of %" + *result.alias + ", which is not a parameter",
                     result.span);
      continue;
    }
    const Type& type = function_.value(parameter->value).type;
    const bool known = is_tensor(type) && is_tensor(result.type);
    if (known && !same_type(type, result.type)) {
      context_.error("function_c3",
                     "alias of %" + *result.alias + ", which is " + to_string(type) + ", not " +
                         to_string(result.type),
                     result.span);
    }
  }
}

bool FunctionVerifier::check_is_buffer(const Type& type, SourceSpan span) {
  if (is_tensor(type)) return true;
  context_.error("type_c2", "functions take and return tensors, not " + to_string(type), span);
  return false;
}

bool FunctionVerifier::check_type(const Type& type, SourceSpan span, Sizes sizes) {
  if (!is_tensor(type)) return true;
  if (std::holds_alternative<ShardType>(type) && !is_host()) {
    context_.error("type_c2", "shard<...> is a type of host functions; write tensor<...>", span);
    return false;
  }
  const auto* tensor = std::get_if<TensorType>(&type);
  if (tensor && tensor->sharding && is_host()) {
    context_.error("type_c2", "a distributed buffer of a host function is a shard<...>", span);
    return false;
  }
  if (!is_host() || !tensor) sizes = Sizes::kSameOnAllRanks;
  bool ok = check_sizes(shape_of(type), span, sizes);
  const Sharding* sharding = sharding_of(type);
  if (!sharding) return ok;
  const auto open = is_host() ? OpenDimensions::kForbidden : OpenDimensions::kAllowed;
  ok = check_sharding(context_, *sharding, shape_of(type).size(), span, open) && ok;
  ok = check_reducible(type, *sharding, span) && ok;
  const auto* shard = std::get_if<ShardType>(&type);
  if (shard && shard->blocks) {
    ok = check_sharding(context_, *shard->blocks, shard->shape.size(), span, open) && ok;
  }
  return ok && (!shard || check_buffer_mesh(shard->sharding->mesh, span));
}

bool FunctionVerifier::check_reducible(const Type& type, const Sharding& sharding,
                                       SourceSpan span) {
  if (dtype_of(type) != DType::kI1 || !sharding.is_partial()) return true;
  context_.error("sharding_c13", "an i1 value cannot be unreduced; cast it to i8", span);
  return false;
}

bool FunctionVerifier::check_buffer_mesh(const std::string& name, SourceSpan span) {
  const Mesh* world = context_.program.find_mesh(function_.mesh);
  const Mesh* mesh = context_.program.find_mesh(name);
  if (!world || !mesh) return false;
  if (world == mesh) return true;
  const std::vector<int64_t> ranks = world->ranks();
  const std::set<int64_t> known(ranks.begin(), ranks.end());
  for (const int64_t rank : mesh->ranks()) {
    if (known.contains(rank)) continue;
    context_.error("host_c2",
                   "rank " + std::to_string(rank) + " of mesh @" + name + " is not in mesh @" +
                       function_.mesh + ", on which @" + function_.name + " runs",
                   span);
    return false;
  }
  return true;
}

void FunctionVerifier::visit(InstrId id) {
  const Instruction& instruction = function_.instr(id);
  // In a broken function, values of a return or yield may be missing.
  const bool skip = (is_broken() && is_terminator(instruction.kind)) ||
                    (!instruction.results.empty() && is_literal(instruction.results.front()));
  if (skip || !check_kind(instruction)) return;
  bool ok = check_attributes(instruction);
  check_accesses(instruction);
  visit_regions(instruction);
  for (const ValueId result : instruction.results) {
    if (has_only_sharding(result)) continue;
    ok = check_type(function_.value(result).type, instruction.name_span, Sizes::kMayDiffer) && ok;
  }
  // In a broken function, a region may lack its yield, so its results are unknown.
  ok = ok && !(is_broken() && !instruction.regions.empty()) && yields_known(instruction);
  if (ok && !is_host()) set_literal_types(instruction);
  if (!ok || !operands_known(instruction) || !infer(instruction) ||
      !check_axis_lists(instruction)) {
    for (const ValueId result : instruction.results) function_.value(result).type = NoType{};
    return;
  }
  for (const Operand& operand : instruction.operands) check_becomes(operand);
}

bool FunctionVerifier::has_only_sharding(ValueId result) const {
  const auto& list = notes_.sharding_only;
  return contains(list, result);
}

bool FunctionVerifier::operands_known(const Instruction& instruction) const {
  return std::none_of(
      instruction.operands.begin(), instruction.operands.end(), [&](const Operand& o) {
        return o.value.valid() && std::holds_alternative<NoType>(function_.value(o.value).type);
      });
}

// Values whose errors have been reported may be yielded.
bool FunctionVerifier::yields_known(const Instruction& instruction) const {
  return std::all_of(instruction.regions.begin(), instruction.regions.end(), [&](RegionId region) {
    const std::vector<InstrId>& body = function_.region(region).instructions;
    const bool yields =
        !body.empty() && record(function_.instr(body.back()).kind).role == HostRole::kYield;
    return !yields || operands_known(function_.instr(body.back()));
  });
}

bool FunctionVerifier::check_kind(const Instruction& instruction) {
  const OpRecord& op = record(instruction.kind);
  if (!check_return_at_end(instruction)) return false;
  const bool compute = op.op_class == OpClass::kCompute;
  if (op.shape == OpShape::kComposite && function_.kind == FunctionKind::kKernel) {
    context_.error("op_c9",
                   std::string(op.mnemonic) +
                       " is a composite; kernels contain only its parts. Use it in a fusion, or "
                       "write its parts here",
                   instruction.name_span);
    for (const ValueId result : instruction.results) function_.value(result).type = NoType{};
    return false;
  }
  const bool is_loop = op.role == HostRole::kLoop || op.role == HostRole::kYield;
  if (is_loop && function_.kind == FunctionKind::kFusion) return true;
  if (instruction.kind == OpKind::return_ || compute != is_host()) return true;
  context_.error("op_c7",
                 std::string(op.mnemonic) + (compute ? " computes; host functions launch kernels"
                                                     : " is an instruction of host functions"),
                 instruction.name_span);
  for (const ValueId result : instruction.results) function_.value(result).type = NoType{};
  return false;
}

bool FunctionVerifier::check_return_at_end(const Instruction& instruction) {
  if (record(instruction.kind).role != HostRole::kReturn) return true;
  const auto& body = function_.region(function_.body).instructions;
  if (!body.empty() && &function_.instr(body.back()) == &instruction) return true;
  context_.error("function_c7",
                 "return must be the last instruction of @" + function_.name +
                     ": every rank executes the whole function",
                 instruction.span);
  return false;
}

bool FunctionVerifier::check_attributes(const Instruction& instruction) {
  bool ok = true;
  for (const auto& [name, value] : instruction.attributes.entries()) {
    ok = check_attribute(instruction, name, value) && ok;
  }
  return check_no_lists(instruction) && ok;
}

bool FunctionVerifier::check_attribute(const Instruction& instruction, std::string_view name,
                                       const Attribute& attribute) {
  const SourceSpan span = instruction.span;
  if (const auto* expr = std::get_if<IndexExpr>(&attribute)) return check_expression(*expr, span);
  if (const auto* list = std::get_if<ExprList>(&attribute)) {
    const bool takes_lists = name == "counts" || name == "receives";
    return std::all_of(list->begin(), list->end(), [&](const IndexExpr& e) {
      return (takes_lists && names_list(e)) || check_expression(e, span);
    });
  }
  if (const auto* symbol = std::get_if<Symbol>(&attribute)) {
    return check_symbol(instruction, symbol->name);
  }
  if (const auto* sharding = std::get_if<Sharding>(&attribute)) {
    const bool ok =
        check_sharding(context_, *sharding, sharding->dims.size(), span, OpenDimensions::kAllowed);
    const auto may_have = [&](const Operand& o) {
      if (!o.value.valid()) return true;
      const Type& type = function_.value(o.value).type;
      return !is_tensor(type) || check_reducible(type, *sharding, span);
    };
    return ok && std::all_of(instruction.operands.begin(), instruction.operands.end(), may_have);
  }
  return true;
}

// Runs after the record's constraints, which check that the axes exist.
bool FunctionVerifier::check_axis_lists(const Instruction& instruction) {
  for (const auto& [name, value] : instruction.attributes.entries()) {
    const auto* axes = std::get_if<AxisList>(&value);
    if (!axes) continue;
    const auto* on = instruction.attributes.get<Symbol>("mesh");
    const Mesh* mesh = context_.program.find_mesh(on ? on->name : function_.mesh);
    if (!mesh || !check_axes(context_, *mesh, *axes, instruction.span)) return false;
  }
  return true;
}

bool FunctionVerifier::check_symbol(const Instruction& instruction, const std::string& name) {
  const Program& program = context_.program;
  if (program.find_function(name) || program.find_mesh(name) || program.find_machine(name)) {
    return true;
  }
  if (context_.is_broken_symbol(name)) return false;
  Diagnostic& d = context_.error("symbol_c2", "unknown symbol @" + name,
                                 find_word(context_.sources, instruction.span, "@" + name));
  std::vector<std::string> names;
  for (const Function& f : program.functions) names.push_back(f.name);
  for (const Mesh& m : program.meshes) names.push_back(m.name);
  suggest(d, name, names, "@");
  return false;
}

void FunctionVerifier::check_accesses(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (!writes(operand.access) || !operand.value.valid()) continue;
    const ValueId memory = memory_of(function_, operand.value);
    for (const Parameter& parameter : function_.params) {
      if (parameter.value != memory || parameter.inout) continue;
      Diagnostic& d = context_.error(
          "host_c1", "%" + function_.value(memory).name + " is written but is not inout",
          operand.span);
      d.notes.push_back({"it is a parameter of @" + function_.name, function_.value(memory).span});
    }
  }
}

void FunctionVerifier::check_becomes(const Operand& operand) {
  if (!operand.becomes || !operand.value.valid()) return;
  const Type& type = function_.value(operand.value).type;
  if (!is_tensor(type)) return;
  const Sharding* before = sharding_of(type);
  if (!before || before->mesh != operand.becomes->mesh) {
    context_.error("host_c5",
                   before ? "the new layout is on another mesh than the buffer"
                          : "the buffer is the same on every rank and has no layout to change",
                   operand.span);
    return;
  }
  if (check_sharding(context_, *operand.becomes, shape_of(type).size(), operand.span,
                     OpenDimensions::kForbidden)) {
    layouts_[operand.value] = *operand.becomes;
  }
}

bool FunctionVerifier::has_unnamed_result(const Instruction& instruction) const {
  const OpRecord& op = record(instruction.kind);
  size_t needed = op.results.size();
  if (needed > 0 && op.results.back().name == "event") --needed;
  while (needed > 0 && op.results[needed - 1].optional) --needed;
  // Regions and calls have as many results as they yield; these may all be omitted.
  if (!instruction.regions.empty() || instruction.attributes.has("callee")) return false;
  return instruction.results.size() < needed;
}

bool FunctionVerifier::infer(const Instruction& instruction) {
  const OpRecord& op = record(instruction.kind);
  if (has_unnamed_result(instruction)) {
    context_.error("op_c5", std::string(op.mnemonic) + " has a result that must be named",
                   instruction.name_span);
    return false;
  }
  // A result with only a sharding has no written type. An op with a sharding as attribute (reshard)
  // reads it from there as well.
  const bool takes_sharding =
      std::any_of(op.attributes.begin(), op.attributes.end(),
                  [](const AttributeSpec& a) { return a.type == AttributeSpec::Type::kSharding; });
  std::vector<std::optional<Sharding>> shardings;
  for (const ValueId result : instruction.results) {
    Type& type = function_.value(result).type;
    const Sharding* sharding = has_only_sharding(result) ? sharding_of(type) : nullptr;
    shardings.push_back(sharding ? std::optional(*sharding) : std::nullopt);
    if (sharding && !takes_sharding) type = NoType{};
  }
  auto types = infer_widened(instruction);
  for (size_t i = 0; i < shardings.size(); ++i) {
    if (shardings[i]) function_.value(instruction.results[i]).type = NoType{};
  }
  if (!types) {
    for (Diagnostic& d : types.error().diagnostics) {
      if (!d.span.valid()) d.span = instruction.name_span;
      context_.diagnostics.push_back(std::move(d));
    }
    return false;
  }
  if (types->size() < instruction.results.size()) {
    context_.error("op_c5",
                   std::to_string(instruction.results.size()) + " results are named, " +
                       std::string(op.mnemonic) + " gives " + std::to_string(types->size()),
                   instruction.name_span);
    return false;
  }
  for (size_t i = 0; i < instruction.results.size(); ++i) {
    auto* tensor = std::get_if<TensorType>(&(*types)[i]);
    if (shardings[i] && tensor) {
      tensor->sharding = std::move(shardings[i]);
      if (!check_type(*tensor, instruction.name_span, Sizes::kMayDiffer)) return false;
    }
    if (!accept_type(instruction, instruction.results[i], std::move((*types)[i]))) return false;
  }
  return true;
}

bool FunctionVerifier::accept_type(const Instruction& instruction, ValueId result, Type inferred) {
  Type& type = function_.value(result).type;
  if (std::holds_alternative<NoType>(type)) {
    if (std::holds_alternative<NoType>(inferred)) {
      context_.error("type_c1", "the type of %" + function_.value(result).name + " must be written",
                     instruction.name_span);
      return false;
    }
    type = std::move(inferred);
    return true;
  }
  if (std::holds_alternative<NoType>(inferred) || same_type(type, inferred)) return true;
  const auto* tensor = std::get_if<TensorType>(&type);
  Type plain = tensor ? Type(TensorType{tensor->dtype, tensor->shape, std::nullopt}) : type;
  context_.error("type_c1",
                 "%" + function_.value(result).name + " is written as " + to_string(plain) +
                     ", it is " + to_string(inferred),
                 instruction.name_span);
  return false;
}

}  // namespace hostir::text
