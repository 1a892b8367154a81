// What is particular to regions: where streams stand, what ends a region, what it hands on.
#include <algorithm>

#include "hostir/text/assembly.h"
#include "hostir/text/verify_function.h"

namespace hostir::text {

namespace {

bool is_resource(const Type& type) {
  return std::holds_alternative<StreamType>(type) || std::holds_alternative<CommType>(type);
}

std::string type_list(const std::vector<Type>& types) {
  std::string out;
  for (const Type& type : types) out += (out.empty() ? "" : ", ") + to_string(type);
  return "(" + out + ")";
}

bool same_types(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_type);
}

bool all_known(const std::vector<Type>& types) {
  return std::none_of(types.begin(), types.end(),
                      [](const Type& t) { return std::holds_alternative<NoType>(t); });
}

const Element* find_binding(const std::vector<Element>& elements) {
  for (const Element& e : elements) {
    if (e.kind == Element::Kind::kRegionBinding) return &e;
    if (const Element* inner = find_binding(e.children)) return inner;
  }
  return nullptr;
}

}  // namespace

void FunctionVerifier::walk(const Region& region) {
  // By index: a region may not grow, but function_ hands out references that visits renew.
  for (size_t i = 0; i < region.instructions.size(); ++i) {
    if (context_.diagnostics.size() >= kMaxDiagnostics) return;
    visit(region.instructions[i]);
  }
}

void FunctionVerifier::visit_regions(const Instruction& instruction) {
  if (instruction.regions.empty()) return;
  // The first region's arguments: loop variables, then what the operands of the bound slot carry.
  const auto& arguments = function_.region(instruction.regions.front()).arguments;
  const Element* binding = find_binding(assembly(instruction.kind));
  std::vector<ValueId> carried;
  if (binding) carried = operands_in_slot(instruction, binding->slot);
  const size_t variables = arguments.size() - std::min(arguments.size(), carried.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Type& type = function_.value(arguments[i]).type;
    if (i < variables) {
      type = IndexType{};
    } else {
      const ValueId value = carried[i - variables];
      type = value.valid() ? function_.value(value).type : Type(EventType{});
    }
  }
  const Layouts before = layouts_;
  std::vector<Layouts> after;
  ++depth_;
  for (const RegionId region : instruction.regions) {
    layouts_ = before;
    walk(function_.region(region));
    after.push_back(std::move(layouts_));
  }
  --depth_;
  // A region may be passed by or run many times: what it changed is known only if all paths agree.
  layouts_ = before;
  for (const Layouts& layouts : after) {
    for (const auto& [value, layout] : layouts) {
      const auto known = layouts_.find(value);
      if (known == layouts_.end() || known->second != layout) layouts_[value] = std::nullopt;
    }
  }
}

void FunctionVerifier::check_top_level(const Instruction& instruction) {
  const bool resource =
      std::any_of(instruction.results.begin(), instruction.results.end(),
                  [&](ValueId result) { return is_resource(function_.value(result).type); });
  if (!resource) {
    past_top_ = true;
    return;
  }
  if (depth_ == 0 && !past_top_) return;
  context_.error("host_c1",
                 std::string(record(instruction.kind).mnemonic) +
                     " must stand at the top of the host function, before other instructions",
                 instruction.name_span);
}

const Instruction* FunctionVerifier::terminator(const Region& region) const {
  return region.instructions.empty() ? nullptr : &function_.instr(region.instructions.back());
}

void FunctionVerifier::check_terminators() {
  const Region& body = function_.region(function_.body);
  const Instruction* last = terminator(body);
  if ((!last || last->kind != OpKind::return_) && !is_broken() && !function_.results.empty()) {
    Diagnostic& d = context_.error(
        "function_c1", "@" + function_.name + " does not end with return", function_.name_span);
    if (last) d.notes.push_back({"its last instruction is here", last->span});
  }
  check_terminator(body, RegionOwner{});
  if (last && last->kind == OpKind::return_) check_return(*last);
}

// Return ends the body and nothing else, yield ends regions of loops and branches.
void FunctionVerifier::check_terminator(const Region& region, RegionOwner owner) {
  for (size_t i = 0; i < region.instructions.size(); ++i) {
    const Instruction& instruction = function_.instr(region.instructions[i]);
    const bool last = i + 1 == region.instructions.size();
    if (instruction.kind == OpKind::return_ && !(last && !owner.instruction)) {
      context_.error("function_c1", "return stands at the end of the function only",
                     instruction.name_span);
    }
    const bool yields = owner.instruction && owner.instruction->kind != OpKind::group;
    if (instruction.kind == OpKind::yield && !(last && yields)) {
      context_.error("host_c7", "yield stands at the end of a region of for or where only",
                     instruction.name_span);
    }
    for (const RegionId inner : instruction.regions) {
      check_terminator(function_.region(inner), {&instruction});
    }
    if (instruction.regions.empty() || instruction.kind == OpKind::group) continue;
    const bool loop = find_binding(assembly(instruction.kind)) != nullptr;
    loop ? check_loop_yield(instruction) : check_branch_yields(instruction);
  }
}

std::vector<Type> FunctionVerifier::yielded(RegionId region) const {
  const Instruction* last = terminator(function_.region(region));
  std::vector<Type> types;
  if (!last || last->kind != OpKind::yield) return types;
  for (const Operand& o : last->operands) {
    types.push_back(o.value.valid() ? function_.value(o.value).type : Type(EventType{}));
  }
  return types;
}

void FunctionVerifier::check_loop_yield(const Instruction& instruction) {
  const Element* binding = find_binding(assembly(instruction.kind));
  std::vector<Type> carried;
  for (const ValueId value : operands_in_slot(instruction, binding->slot)) {
    carried.push_back(value.valid() ? function_.value(value).type : Type(EventType{}));
  }
  const std::vector<Type> types = yielded(instruction.regions.front());
  if (is_broken() || !all_known(types) || !all_known(carried) || same_types(types, carried)) return;
  const Instruction* last = terminator(function_.region(instruction.regions.front()));
  const bool yields = last && last->kind == OpKind::yield;
  context_.error("host_c3",
                 "the loop carries " + type_list(carried) + " and yields " + type_list(types),
                 yields ? last->span : instruction.name_span);
}

void FunctionVerifier::check_branch_yields(const Instruction& instruction) {
  if (is_broken()) return;
  const std::vector<Type> first = yielded(instruction.regions.front());
  const std::vector<Type> second =
      instruction.regions.size() > 1 ? yielded(instruction.regions[1]) : std::vector<Type>();
  if (!all_known(first) || !all_known(second) || same_types(first, second)) return;
  context_.error("host_c4", "the branches yield " + type_list(first) + " and " + type_list(second),
                 instruction.name_span);
}

void FunctionVerifier::check_return(const Instruction& instruction) {
  const auto& declared = function_.results;
  if (instruction.operands.size() != declared.size()) {
    context_.error("function_c2",
                   "@" + function_.name + " returns " +
                       std::to_string(instruction.operands.size()) + " values, it declares " +
                       std::to_string(declared.size()),
                   instruction.name_span);
    return;
  }
  for (size_t i = 0; i < declared.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (!operand.value.valid()) {
      context_.error("function_c3", "none is returned as a value", operand.span);
      continue;
    }
    const Value& value = function_.value(operand.value);
    const Type& wanted = declared[i].type;
    if (std::holds_alternative<NoType>(value.type) || std::holds_alternative<NoType>(wanted))
      continue;
    if (!same_shape_and_dtype(value.type, wanted) || value.type.index() != wanted.index()) {
      Type shown = value.type;
      if (auto* tensor = std::get_if<TensorType>(&shown)) tensor->sharding.reset();
      Diagnostic& d = context_.error(
          "function_c3", "%" + value.name + " is " + to_string(shown) + ", not as declared",
          operand.span);
      d.notes.push_back({"the result is declared as " + to_string(wanted), declared[i].span});
      continue;
    }
    check_returned_layout(operand, declared[i]);
  }
}

void FunctionVerifier::check_returned_layout(const Operand& operand, const ResultDecl& declared) {
  const auto* wanted = std::get_if<ShardType>(&declared.type);
  const auto* shard = std::get_if<ShardType>(&function_.value(operand.value).type);
  if (!wanted || !shard) return;
  std::optional<Sharding> layout = shard->sharding;
  if (const auto at = layouts_.find(operand.value); at != layouts_.end()) layout = at->second;
  if (!layout || *layout == wanted->sharding) return;
  Diagnostic& d = context_.error("host_c6",
                                 "%" + function_.value(operand.value).name + " is returned as " +
                                     layout->to_string() + ", not as declared",
                                 operand.span);
  d.notes.push_back({"the result is declared as " + wanted->sharding.to_string(), declared.span});
}

}  // namespace hostir::text
