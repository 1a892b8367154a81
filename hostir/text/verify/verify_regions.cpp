// Verifies regions: their arguments, the layouts after them, and the end of a function.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/text/assembly.h"
#include "hostir/text/verify/verify_function.h"

namespace hostir::text {

namespace {

const Element* find_binding(const std::vector<Element>& elements) {
  for (const Element& e : elements) {
    if (e.kind == Element::Kind::kRegionBinding) return &e;
    if (const Element* inner = find_binding(e.children)) return inner;
  }
  return nullptr;
}

}  // namespace

void FunctionVerifier::walk(const Region& region) {
  std::vector<ValueId> defined;
  for (const ValueId argument : region.arguments) define(argument, defined);
  for (const InstrId id : region.instructions) {
    if (context_.diagnostics.size() >= kMaxDiagnostics) return;
    check_visible(function_.instr(id));
    visit(id);
    for (const ValueId result : function_.instr(id).results) define(result, defined);
  }
  for (const ValueId value : defined) visible_.erase(function_.value(value).name);
}

// The parser reports these errors itself. Programs built by passes must follow the same rules, so
// that their printed text parses.
void FunctionVerifier::define(ValueId value, std::vector<ValueId>& region) {
  const Value& defined = function_.value(value);
  if (visible_.emplace(defined.name, value).second) {
    region.push_back(value);
  } else if (!is_broken()) {
    context_.error("value_c1",
                   "the name \"%" + defined.name + "\" is already in use where it is defined again",
                   defined.span);
  }
}

void FunctionVerifier::check_visible(const Instruction& instruction) {
  if (is_broken()) return;
  for (const Operand& operand : instruction.operands) {
    if (!operand.value.valid()) continue;
    const std::string& name = function_.value(operand.value).name;
    const auto at = visible_.find(name);
    if (at != visible_.end() && at->second == operand.value) continue;
    context_.error("value_c2", "\"%" + name + "\" is used where it is not visible", operand.span);
  }
}

// The first region's arguments: loop variables, then values carried by the bound slot's operands.
void FunctionVerifier::set_argument_types(const Instruction& instruction) {
  const auto& arguments = function_.region(instruction.regions.front()).arguments;
  const Element* binding = find_binding(assembly(instruction.kind));
  std::vector<ValueId> carried;
  if (binding) carried = operands_in_slot(instruction, binding->slot);
  const size_t variables = arguments.size() - std::min(arguments.size(), carried.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Type type = IndexType{};
    if (i >= variables) {
      const ValueId value = carried[i - variables];
      type = value.valid() ? function_.value(value).type : Type(EventType{});
      // Each pass of a fusion's loop may cut the value in another way.
      if (auto* tensor = std::get_if<TensorType>(&type); tensor && !is_host())
        tensor->sharding.reset();
    }
    function_.value(arguments[i]).type = std::move(type);
  }
}

void FunctionVerifier::visit_regions(const Instruction& instruction) {
  if (instruction.regions.empty()) return;
  set_argument_types(instruction);
  const Layouts before = layouts_;
  std::vector<Layouts> after;
  for (const RegionId region : instruction.regions) {
    layouts_ = before;
    walk(function_.region(region));
    after.push_back(std::move(layouts_));
  }
  // A region may run zero or many times, so a layout is known only if all paths agree.
  layouts_ = before;
  for (const Layouts& layouts : after) {
    for (const auto& [value, layout] : layouts) {
      const auto known = before.find(value);
      if (known == before.end() || known->second != layout) layouts_[value] = std::nullopt;
    }
  }
}

void FunctionVerifier::check_end() {
  const auto& body = function_.region(function_.body).instructions;
  const Instruction* last = body.empty() ? nullptr : &function_.instr(body.back());
  if (last && last->kind == OpKind::return_) {
    check_returned_values(*last);
    return check_returned_layouts(*last);
  }
  // A host function may have only side effects; a fusion must return something.
  const bool may_end = function_.results.empty() && function_.kind != FunctionKind::kFusion;
  if (is_broken() || may_end) return;
  Diagnostic& d = context_.error("function_c1", "@" + function_.name + " does not end with return",
                                 function_.name_span);
  if (last) d.notes.push_back({"its last instruction is here", last->span});
}

// Compares the shapes and dtypes of returned values with the declared results. Values of unknown
// type are skipped; check_returned_layouts() compares the shardings.
void FunctionVerifier::check_returned_values(const Instruction& instruction) {
  if (is_broken()) return;
  const size_t returned = instruction.operands.size();
  const size_t declared = function_.results.size();
  if (returned != declared) {
    context_.error("function_c5",
                   fmt::format("@{} returns {} value{}, {} {} declared", function_.name, returned,
                               returned == 1 ? "" : "s", declared, declared == 1 ? "is" : "are"),
                   instruction.span);
    return;
  }
  for (size_t i = 0; i < returned; ++i) {
    const Operand& operand = instruction.operands[i];
    const ResultDecl& result = function_.results[i];
    if (!operand.value.valid()) continue;
    const Type& type = function_.value(operand.value).type;
    const bool comparable =
        (sharding_of(type) || std::holds_alternative<TensorType>(type)) &&
        (sharding_of(result.type) || std::holds_alternative<TensorType>(result.type));
    if (!comparable) continue;
    if (shape_of(type) == shape_of(result.type) && dtype_of(type) == dtype_of(result.type))
      continue;
    Diagnostic& d =
        context_.error("function_c6",
                       fmt::format("%{} is returned as {}, not as declared",
                                   function_.value(operand.value).name, to_string(type)),
                       operand.span);
    d.notes.push_back({"the result is declared as " + to_string(result.type), result.span});
  }
}

void FunctionVerifier::check_returned_layouts(const Instruction& instruction) {
  for (size_t i = 0; i < instruction.operands.size() && i < function_.results.size(); ++i) {
    if (instruction.operands[i].value.valid()) {
      check_returned_layout(instruction.operands[i], function_.results[i]);
    }
  }
}

void FunctionVerifier::check_returned_layout(const Operand& operand, const ResultDecl& declared) {
  const Value& value = function_.value(operand.value);
  const auto* wanted = std::get_if<ShardType>(&declared.type);
  const auto* shard = std::get_if<ShardType>(&value.type);
  std::optional<Sharding> layout;
  if (shard) layout = *shard->sharding;
  if (const auto at = layouts_.find(operand.value); at != layouts_.end()) {
    if (!at->second) return;  // depends on control flow
    layout = at->second;
  }
  const bool same = wanted ? layout && *layout == *wanted->sharding : !layout;
  const bool buffers = sharding_of(value.type) || std::holds_alternative<TensorType>(value.type);
  if (same || !buffers || std::holds_alternative<NoType>(declared.type)) return;
  Diagnostic& d = context_.error("host_c3",
                                 "%" + value.name + " is returned " +
                                     (layout ? "as " + layout->to_string() : "without a layout") +
                                     ", not as declared",
                                 operand.span);
  d.notes.push_back({"the result is declared as " + to_string(declared.type), declared.span});
}

}  // namespace hostir::text
