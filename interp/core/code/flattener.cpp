#include "interp/core/code/flattener.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hostir/ops/integer_list.h"
#include "hostir/ops/position_attribute.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::interp {

namespace {
constexpr size_t kMaxInstructions = size_t{1} << 22;
constexpr CodeIndex kOpenGroup = kNoCode - 1;  // parent of a member whose group has no index yet

bool is_register_type(const Type& type) {
  return !std::holds_alternative<StreamType>(type) && !std::holds_alternative<CommType>(type);
}
}  // namespace

uint32_t Flattener::function_index(const Function& function) {
  for (size_t i = 0; i < code_.functions.size(); ++i) {
    if (code_.functions[i] == &function) return static_cast<uint32_t>(i);
  }
  code_.functions.push_back(&function);
  return static_cast<uint32_t>(code_.functions.size() - 1);
}

uint32_t Flattener::new_register(const Scope& scope, ValueId value) {
  RegisterInfo info;
  info.function = scope.function_index;
  info.value = value;
  info.call = scope.call;
  info.buffer = is_tensor(scope.function->value(value).type);
  info.layout = scope.declared[value.index];
  code_.registers.push_back(info);
  return code_.register_count++;
}

Expected<Flattener::Scope> Flattener::open_scope(const Function& function, CodeIndex call) {
  if (function.kind != FunctionKind::kHost) {
    return fail_at(ErrorKind::kInvalid, "code_call",
                   fmt::format("@{} is not a host function", function.name), function.name_span);
  }
  Scope scope;
  scope.function = &function;
  scope.function_index = function_index(function);
  scope.call = call;
  scope.mesh = program_.find_mesh(function.mesh);
  if (scope.mesh == nullptr) {
    return fail_at(ErrorKind::kInvalid, "code_mesh",
                   fmt::format("unknown mesh @{} of @{}", function.mesh, function.name),
                   function.name_span);
  }
  const size_t n = function.values.size();
  scope.registers.assign(n, kNoRegister);
  scope.streams.assign(n, kNoStream);
  scope.comms.assign(n, kNoComm);
  scope.declared.assign(n, kNoLayout);
  scope.current.assign(n, kNoLayout);
  scope.numbers.assign(function.instructions.size(), 0);
  uint32_t number = 0;
  for (const InstrId id : function.preorder()) scope.numbers[id.index] = ++number;
  return scope;
}

Expected<void> Flattener::declare(Scope& scope, ValueId value, bool declared_here) {
  const Value& v = scope.function->value(value);
  if (is_tensor(v.type)) {
    HOSTIR_ASSIGN_OR_RETURN(scope.declared[value.index], layout(scope, v.type, value));
    scope.current[value.index] = scope.declared[value.index];
  }
  if (declared_here && is_register_type(v.type)) {
    scope.registers[value.index] = new_register(scope, value);
  }
  scope.visible.emplace_back(v.name, value);
  return {};
}

Expected<void> Flattener::run(const Function& entry) {
  call_stack_.push_back(&entry);
  HOSTIR_ASSIGN_OR_RETURN(Scope scope, open_scope(entry, kNoCode));
  for (const Parameter& p : entry.params) {
    if (!is_tensor(entry.value(p.value).type)) {
      return fail_at(ErrorKind::kInvalid, "code_op",
                     fmt::format("parameter %{} of @{} is not a tensor", entry.value(p.value).name,
                                 entry.name),
                     entry.value(p.value).span);
    }
    HOSTIR_TRY(declare(scope, p.value, true));
    code_.parameters.push_back(scope.registers[p.value.index]);
  }
  if (entry.body.valid()) HOSTIR_TRY(region(scope, entry.body, kNoCode));
  if (code_.instructions.empty() ||
      record(code_.instructions.back().kind).role != HostRole::kReturn) {
    return fail_at(ErrorKind::kInvalid, "code_op",
                   fmt::format("@{} does not end with return", entry.name), entry.name_span);
  }
  return {};
}

Expected<void> Flattener::region(Scope& scope, RegionId id, CodeIndex parent) {
  const size_t visible = scope.visible.size();
  for (const InstrId instr : scope.function->region(id).instructions) {
    HOSTIR_TRY(instruction(scope, instr, parent));
    if (code_.instructions.size() > kMaxInstructions) {
      return fail_at(
          ErrorKind::kInvalid, "code_call",
          fmt::format("@{} expands to more than {} instructions", code_.entry, kMaxInstructions),
          scope.function->name_span);
    }
  }
  scope.visible.resize(visible);
  return {};
}

CodeIndex Flattener::glue(CodeRole role, const CodeInstruction& like, CodeIndex parent) {
  CodeInstruction out;
  out.kind = like.kind;
  out.role = role;
  out.address = like.address;
  out.function = like.function;
  out.instr = like.instr;
  out.parent = parent;
  out.call = like.call;
  code_.instructions.push_back(std::move(out));
  return static_cast<CodeIndex>(code_.instructions.size() - 1);
}

CodeInstruction Flattener::begin(const Scope& scope, InstrId id, CodeIndex parent) {
  CodeInstruction out;
  out.kind = scope.function->instr(id).kind;
  out.function = scope.function_index;
  out.instr = id;
  out.address = scope.numbers[id.index];
  out.parent = parent;
  out.call = scope.call;
  return out;
}

Expected<void> Flattener::instruction(Scope& scope, InstrId id, CodeIndex parent) {
  const Instruction& source = scope.function->instr(id);
  const OpRecord& op = record(source.kind);
  if (op.op_class == OpClass::kCompute) {
    return fail_at(ErrorKind::kInvalid, "code_op",
                   fmt::format("{} cannot be used in a host function", op.mnemonic),
                   source.name_span);
  }
  if (op.role == HostRole::kGroup) return group(scope, id, parent);
  CodeInstruction out = begin(scope, id, parent);
  if (op.role == HostRole::kCommunicator) HOSTIR_TRY(communicator(scope, source, id));
  if (op.role == HostRole::kStream) HOSTIR_TRY(stream(scope, source));
  HOSTIR_TRY(operands(scope, id, out));
  // Loop bounds are evaluated outside the loop: the loop variable is not visible to them.
  HOSTIR_TRY(expressions(scope, id, out));
  HOSTIR_TRY(results(scope, id, out));
  const auto index = static_cast<CodeIndex>(code_.instructions.size());
  code_.instructions.push_back(std::move(out));
  return control(scope, id, index);
}

// Flattens what depends on an instruction: its regions, its callee, the targets of its operands.
Expected<void> Flattener::control(Scope& scope, InstrId id, CodeIndex index) {
  switch (record(code_.instructions[index].kind).role) {
    case HostRole::kLoop:
      return loop(scope, id, index);
    case HostRole::kBranch:
      return where(scope, id, index);
    case HostRole::kCall:
      return call(scope, id, index);
    case HostRole::kYield:
      return yield(scope, id, index);
    case HostRole::kReturn:
      return_from_call(scope, index);
      return {};
    default:
      return {};
  }
}

Expected<void> Flattener::same_layout(LayoutIndex given, LayoutIndex wanted, const Operand& operand,
                                      std::string_view given_name,
                                      std::string_view wanted_name) const {
  if (given == kNoLayout || wanted == kNoLayout || given == wanted) return {};
  const LayoutTable& have = code_.layouts[given];
  const LayoutTable& want = code_.layouts[wanted];
  const auto* a = std::get_if<ShardType>(&have.type);
  const auto* b = std::get_if<ShardType>(&want.type);
  if (a == nullptr || b == nullptr) return {};
  const bool same_partial =
      std::is_permutation(a->sharding->unreduced.begin(), a->sharding->unreduced.end(),
                          b->sharding->unreduced.begin(), b->sharding->unreduced.end()) &&
      (!a->sharding->is_partial() || a->sharding->unreduced_kind == b->sharding->unreduced_kind);
  bool same_boxes = true;
  const size_t ranks = blocks_ == Blocks::kOfFirstRank ? 1 : have.by_rank.size();
  for (size_t r = 0; r < std::min(ranks, want.by_rank.size()); ++r) {
    // A flat view of the same elements has the same layout.
    if (have.by_rank[r].global != want.by_rank[r].global) continue;
    same_boxes = same_boxes && have.by_rank[r].box == want.by_rank[r].box &&
                 have.by_rank[r].blocks == want.by_rank[r].blocks;
  }
  if (same_partial && same_boxes) return {};
  return fail_at(
      ErrorKind::kInvalid, "call_layout",
      fmt::format(
          "{} is {}, {} is declared {}: {}", given_name, a->sharding->to_string(), wanted_name,
          b->sharding->to_string(),
          same_boxes
              ? "one is partial and the other is not; reduce it, or declare the same layout on both"
              : "ranks would use the wrong part; reshard it, or declare the same layout on both"),
      operand.span);
}

void Flattener::return_from_call(const Scope& scope, CodeIndex index) {
  if (scope.call == kNoCode) return;
  CodeInstruction& code = code_.instructions[index];
  const size_t n = std::min(scope.return_registers.size(), code.operands.size());
  for (size_t i = 0; i < n; ++i) {
    if (scope.return_registers[i] == kNoRegister) continue;
    code.moves.push_back({scope.return_registers[i], code.operands[i]});
  }
}

Expected<void> Flattener::operands(Scope& scope, InstrId id, CodeInstruction& out) {
  const Instruction& source = scope.function->instr(id);
  for (const Operand& o : source.operands) {
    uint32_t reg = kNoRegister;
    LayoutIndex before = kNoLayout;
    LayoutIndex after = kNoLayout;
    if (o.value.valid()) {
      const Value& v = scope.function->value(o.value);
      reg = scope.registers[o.value.index];
      if (std::holds_alternative<StreamType>(v.type)) out.stream = scope.streams[o.value.index];
      if (std::holds_alternative<CommType>(v.type)) out.comm = scope.comms[o.value.index];
      if (is_register_type(v.type) && reg == kNoRegister) {
        return fail_at(ErrorKind::kInvalid, "code_name",
                       fmt::format("%{} is used before it is defined", v.name), o.span);
      }
      before = scope.current[o.value.index];
      if (before != kNoLayout && o.becomes) {
        Type type = v.type;
        if (const auto* shard = std::get_if<ShardType>(&type)) {
          type = ShardType{shard->dtype, shard->shape, *o.becomes, std::nullopt};
        } else if (auto* tensor = std::get_if<TensorType>(&type)) {
          tensor->sharding = o.becomes;
        }
        HOSTIR_ASSIGN_OR_RETURN(after, layout(scope, type, o.value));
      } else if (o.access == Access::kWrite && before != scope.declared[o.value.index]) {
        after = scope.declared[o.value.index];
      }
      if (after != kNoLayout) scope.current[o.value.index] = after;
    }
    out.operands.push_back(reg);
    out.layouts.push_back(before);
    out.becomes.push_back(after);
  }
  return {};
}

Expected<void> Flattener::results(Scope& scope, InstrId id, CodeInstruction& out) {
  for (const ValueId result : scope.function->instr(id).results) {
    if (ops::is_integer_list(*scope.function, result)) return declare_list(scope, id, out);
    HOSTIR_TRY(declare(scope, result, true));
    out.results.push_back(scope.registers[result.index]);
    if (out.result_layout == kNoLayout) out.result_layout = scope.declared[result.index];
  }
  return {};
}

// The record's attributes in order: a communication op's expression is its position, other ones and
// the first list are in `exprs`, and the second list (where ranges end, what is received) is in
// `more_exprs`.
Expected<void> Flattener::expressions(Scope& scope, InstrId id, CodeInstruction& out) {
  const Attributes& attributes = scope.function->instr(id).attributes;
  const AttributeSpec* position = position_attribute(out.kind);
  std::vector<IndexCodeId>* lists = &out.exprs;
  for (const AttributeSpec& spec : record(out.kind).attributes) {
    if (spec.type == AttributeSpec::Type::kExprs) {
      HOSTIR_TRY(expression_list(scope, attributes, spec.name, *lists));
      lists = &out.more_exprs;
    }
    const auto* e = attributes.get<IndexExpr>(spec.name);
    if (spec.type != AttributeSpec::Type::kExpr || e == nullptr) continue;
    HOSTIR_ASSIGN_OR_RETURN(const IndexCodeId code, compile_expr(scope, *e));
    if (&spec == position) {
      out.position_expr = code;
      continue;
    }
    out.exprs.push_back(code);
    if (out.kind != OpKind::assert_) continue;
    for (const IndexExpr& leaf : values_named_in(*e)) {
      HOSTIR_ASSIGN_OR_RETURN(const IndexCodeId value, compile_expr(scope, leaf));
      out.more_exprs.push_back(value);
    }
  }
  HOSTIR_TRY(check_counts(scope, id, out));
  if (record(out.kind).role == HostRole::kBranch) {
    if (const auto* mesh = attributes.get<Symbol>("mesh")) {
      HOSTIR_ASSIGN_OR_RETURN(out.membership, membership_table(mesh->name));
    }
  }
  return {};
}

Expected<void> Flattener::loop(Scope& scope, InstrId id, CodeIndex index) {
  const Instruction& source = scope.function->instr(id);
  if (source.regions.empty()) return {};
  const Region& body = scope.function->region(source.regions[0]);
  const size_t visible = scope.visible.size();
  std::vector<RegisterMove> carried;
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    HOSTIR_TRY(declare(scope, body.arguments[i], true));
    const uint32_t reg = scope.registers[body.arguments[i].index];
    CodeInstruction& code = code_.instructions[index];
    if (i == 0) {
      code.index_register = reg;
    } else if (i - 1 < code.operands.size()) {
      code.moves.push_back({reg, code.operands[i - 1]});
      carried.push_back({reg, kNoRegister});
      if (i - 1 < code.results.size()) code.exit_moves.push_back({code.results[i - 1], reg});
    }
  }
  yield_targets_.push_back(std::move(carried));
  HOSTIR_TRY(region(scope, source.regions[0], index));
  yield_targets_.pop_back();
  scope.visible.resize(visible);
  const CodeIndex last = glue(CodeRole::kLoopEnd, code_.instructions[index], index);
  CodeInstruction& end = code_.instructions[last];
  CodeInstruction& code = code_.instructions[index];
  end.jump = index + 1;
  end.index_register = code.index_register;
  end.exit_moves = code.exit_moves;
  code.jump = code.end = end.end = last + 1;
  return {};
}

Expected<void> Flattener::where(Scope& scope, InstrId id, CodeIndex index) {
  const Instruction& source = scope.function->instr(id);
  std::vector<RegisterMove> targets;
  for (const uint32_t reg : code_.instructions[index].results) {
    targets.push_back({reg, kNoRegister});
  }
  CodeIndex jump = kNoCode;
  // Both branches start from the same layouts; after the `where`, those of the first branch hold.
  const std::vector<LayoutIndex> before = scope.current;
  std::vector<LayoutIndex> after = before;
  for (size_t r = 0; r < source.regions.size(); ++r) {
    if (r == 1) {
      jump = glue(CodeRole::kJump, code_.instructions[index], index);
      code_.instructions[index].jump = static_cast<CodeIndex>(code_.instructions.size());
      after = std::exchange(scope.current, before);
      after.resize(scope.current.size(), kNoLayout);
    }
    yield_targets_.push_back(targets);
    HOSTIR_TRY(region(scope, source.regions[r], index));
    yield_targets_.pop_back();
    if (r == 1) scope.current = after;
  }
  const auto end = static_cast<CodeIndex>(code_.instructions.size());
  CodeInstruction& code = code_.instructions[index];
  code.end = end;
  if (jump == kNoCode) {
    code.jump = end;
  } else {
    code_.instructions[jump].jump = end;
  }
  return {};
}

Expected<void> Flattener::yield(Scope& scope, InstrId id, CodeIndex index) {
  CodeInstruction& code = code_.instructions[index];
  if (yield_targets_.empty() || code.operands.size() != yield_targets_.back().size()) {
    return fail_at(ErrorKind::kInvalid, "code_op",
                   "yield passes a different number of values than its region carries",
                   scope.function->instr(id).span);
  }
  for (size_t i = 0; i < code.operands.size(); ++i) {
    code.moves.push_back({yield_targets_.back()[i].to, code.operands[i]});
  }
  return {};
}

namespace {

// Not members of a group, which is a single task: they are tasks themselves, or contain some.
bool issues_alone(HostRole role) {
  constexpr std::array kAlone = {HostRole::kAlloc, HostRole::kFree, HostRole::kLaunch,
                                 HostRole::kGroup, HostRole::kWait, HostRole::kCall};
  return contains(kAlone, role);
}

}  // namespace

// Members come first; the group instruction after them issues them all.
Expected<void> Flattener::group(Scope& scope, InstrId id, CodeIndex parent) {
  const Instruction& source = scope.function->instr(id);
  const auto first = static_cast<CodeIndex>(code_.instructions.size());
  for (const RegionId r : source.regions) HOSTIR_TRY(region(scope, r, kOpenGroup));
  const auto index = static_cast<CodeIndex>(code_.instructions.size());
  for (CodeIndex i = first; i < index; ++i) {
    CodeInstruction& inner = code_.instructions[i];
    const OpRecord& op = record(inner.kind);
    if (issues_alone(op.role)) {
      return fail_at(ErrorKind::kInvalid, "code_op",
                     fmt::format("{} cannot be used in a group", op.mnemonic),
                     code_.source(i).name_span);
    }
    inner.group = index;
    if (inner.parent == kOpenGroup) inner.parent = index;
  }
  CodeInstruction out = begin(scope, id, parent);
  out.end = index + 1;
  out.jump = first;
  HOSTIR_TRY(results(scope, id, out));
  code_.instructions.push_back(std::move(out));
  return {};
}

Expected<void> Flattener::call(Scope& scope, InstrId id, CodeIndex index) {
  const Instruction& source = scope.function->instr(id);
  const auto* symbol = source.attributes.get<Symbol>("callee");
  const Function* callee = symbol != nullptr ? program_.find_function(symbol->name) : nullptr;
  if (callee == nullptr || callee->kind != FunctionKind::kHost) {
    return fail_at(ErrorKind::kInvalid, "code_call",
                   fmt::format("@{} is not a host function", symbol ? symbol->name : ""),
                   source.span);
  }
  for (const Function* f : call_stack_) {
    if (f == callee) {
      return fail_at(ErrorKind::kInvalid, "code_call",
                     fmt::format("@{} calls itself", callee->name), source.span);
    }
  }
  if (callee->params.size() != source.operands.size()) {
    return fail_at(ErrorKind::kInvalid, "code_call",
                   fmt::format("@{} takes {} arguments", callee->name, callee->params.size()),
                   source.span);
  }
  call_stack_.push_back(callee);
  HOSTIR_ASSIGN_OR_RETURN(Scope inner, open_scope(*callee, index));
  for (size_t i = 0; i < callee->params.size(); ++i) {
    const ValueId param = callee->params[i].value;
    const ValueId argument = source.operands[i].value;
    HOSTIR_TRY(declare(inner, param, true));
    if (argument.valid()) {
      HOSTIR_TRY(same_layout(
          scope.current[argument.index], inner.declared[param.index], source.operands[i],
          fmt::format("argument %{} of @{}", scope.function->value(argument).name, callee->name),
          fmt::format("parameter %{}", callee->value(param).name)));
      inner.streams[param.index] = scope.streams[argument.index];
      inner.comms[param.index] = scope.comms[argument.index];
    }
    if (inner.registers[param.index] == kNoRegister) continue;
    code_.instructions[index].moves.push_back(
        {inner.registers[param.index], code_.instructions[index].operands[i]});
  }
  inner.return_registers = code_.instructions[index].results;
  if (callee->body.valid()) HOSTIR_TRY(region(inner, callee->body, index));
  code_.instructions[index].end = static_cast<CodeIndex>(code_.instructions.size());
  call_stack_.pop_back();
  return {};
}

}  // namespace hostir::interp
