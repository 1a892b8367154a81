// The table of records, expanded from ops.def, and the checks that apply to every op.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "hostir/ops/common_attributes.h"
#include "hostir/support/lists.h"

namespace hostir {

#define HOSTIR_COMPUTE_OP(name) OpRecord op_##name();
#define HOSTIR_COMMUNICATION_OP(name) OpRecord op_##name();
#define HOSTIR_HOST_OP(name) OpRecord op_##name();
#include "hostir/ir/ops.def"

namespace {

using Table = std::array<OpRecord, kOpCount>;

const Table& table() {
  static const Table kTable = {
#define HOSTIR_COMPUTE_OP(name) op_##name(),
#define HOSTIR_COMMUNICATION_OP(name) op_##name(),
#define HOSTIR_HOST_OP(name) op_##name(),
#include "hostir/ir/ops.def"
  };
  return kTable;
}

// By AttributeSpec::Type: tests if an `Attribute` holds the alternative for values of that type.
template <class T>
bool holds(const Attribute& attribute) {
  return std::holds_alternative<T>(attribute);
}

constexpr std::array<bool (*)(const Attribute&), 16> kHolds = {
    holds<bool>,      holds<int64_t>,  holds<double>,    holds<std::string>,
    holds<Keyword>,   holds<Symbol>,   holds<IndexExpr>, holds<IntList>,
    holds<IntLists>,  holds<ExprList>, holds<AxisList>,  holds<DType>,
    holds<Reduction>, holds<Sharding>, holds<Type>,      holds<Tensor>};

constexpr std::array<std::string_view, 16> kTypeNames = {
    "true or false",  "an integer",    "a number",    "a string",          "a word",
    "a symbol",       "an expression", "integers",    "lists of integers", "expressions",
    "axes",           "a dtype",       "a reduction", "a sharding",        "a type",
    "an inline value"};

void report(std::vector<Diagnostic>& out, const Instruction& instruction, std::string_view id,
            std::string message) {
  out.push_back({.id = std::string(id),
                 .message = std::move(message),
                 .span = instruction.name_span,
                 .notes = {}});
}

std::string allowed_words(const AttributeSpec& spec) {
  std::string words;
  for (const std::string_view word : spec.keywords) {
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return words;
}

void check_attribute(std::vector<Diagnostic>& out, const OpRecord& op, const Instruction& instr,
                     const std::string& name, const Attribute& value) {
  const AttributeSpec* spec = find_any_attribute_spec(op, name);
  if (spec == nullptr) {
    report(out, instr, "op_c2", fmt::format("{} has no attribute \"{}\"", op.mnemonic, name));
    return;
  }
  const auto type = static_cast<size_t>(spec->type);
  if (!kHolds[type](value)) {
    report(out, instr, "op_c4",
           fmt::format("attribute \"{}\" of {} must be {}", name, op.mnemonic, kTypeNames[type]));
    return;
  }
  if (const auto* keyword = std::get_if<Keyword>(&value)) {
    const auto& words = spec->keywords;
    if (!contains(words, keyword->word)) {
      report(out, instr, "op_c4",
             fmt::format("attribute \"{}\" of {} must be one of {}, not {}", name, op.mnemonic,
                         allowed_words(*spec), keyword->word));
    }
  }
}

void check_attributes(std::vector<Diagnostic>& out, const OpRecord& op, const Instruction& instr) {
  for (const auto& [name, value] : instr.attributes.entries()) {
    check_attribute(out, op, instr, name, value);
  }
  for (const AttributeSpec& spec : op.attributes) {
    if (spec.required && !instr.attributes.has(spec.name)) {
      report(out, instr, "op_c3",
             fmt::format("{} needs the attribute \"{}\": {}", op.mnemonic, spec.name, spec.doc));
    }
  }
}

// Host operands store their slot; compute operands fill the slots in order.
void check_operands(std::vector<Diagnostic>& out, const OpRecord& op, const Instruction& instr) {
  std::vector<size_t> counts(op.operands.size(), 0);
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    const bool by_position = op.op_class == OpClass::kCompute;
    const size_t slot = by_position ? slot_of(op, i) : instr.operands[i].slot;
    if (slot >= counts.size()) {
      report(out, instr, "op_c1",
             fmt::format("{} takes {} operands, {} given", op.mnemonic, op.operands.size(),
                         instr.operands.size()));
      return;
    }
    ++counts[slot];
  }
  for (size_t s = 0; s < counts.size(); ++s) {
    const OperandSpec& spec = op.operands[s];
    if (spec.arity == OperandSpec::Arity::kOne && counts[s] == 0) {
      report(out, instr, "op_c1",
             fmt::format("{} needs the operand \"{}\": {}", op.mnemonic, spec.name, spec.doc));
    } else if (spec.arity != OperandSpec::Arity::kVariadic && counts[s] > 1) {
      report(
          out, instr, "op_c1",
          fmt::format("{} takes one operand \"{}\", {} given", op.mnemonic, spec.name, counts[s]));
    }
  }
}

// Compute ops take only tensors; `none` is not a tensor.
void check_tensors(std::vector<Diagnostic>& out, const OpRecord& op, const Instruction& instr,
                   std::span<const Type> types) {
  if (op.op_class != OpClass::kCompute) return;
  if (types.size() != instr.operands.size()) {
    report(out, instr, "op_c1",
           fmt::format("{} takes tensors: an operand cannot be none", op.mnemonic));
  }
  for (const Type& type : types) {
    if (!std::holds_alternative<TensorType>(type) && !std::holds_alternative<ShardType>(type)) {
      report(
          out, instr, "op_c1",
          fmt::format("{} takes tensors, not {}{}", op.mnemonic, to_string(type),
                      std::holds_alternative<IndexType>(type)
                          ? "; for a loop's variable %i, `constant {size = %i}` is a tensor, and "
                            "`at %x[%i]` an element"
                          : ""));
    }
  }
}

void check_constraints(std::vector<Diagnostic>& out, const OpRecord& op, const OpCall& call) {
  for (const Constraint& constraint : op.constraints) {
    if (constraint.check == nullptr) continue;
    auto violation = constraint.check(call);
    if (!violation) continue;
    report(out, *call.instruction, constraint.id, std::move(violation->message));
    const auto& operands = call.instruction->operands;
    const auto at = static_cast<size_t>(violation->operand);
    if (violation->operand >= 0 && at < operands.size() && operands[at].span.valid()) {
      out.back().span = operands[at].span;
    }
    return;  // later checks assume that earlier ones passed
  }
}

void locate(Error& error, const Instruction& instruction) {
  for (Diagnostic& diagnostic : error.diagnostics) {
    if (!diagnostic.span.valid()) diagnostic.span = instruction.name_span;
  }
}

}  // namespace

const AttributeSpec* find_attribute_spec(const OpRecord& op, std::string_view name) {
  for (const AttributeSpec& spec : op.attributes) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

std::span<const AttributeSpec> common_attributes() {
  static const std::array<AttributeSpec, 2> kCommon = {
      AttributeSpec{
          .name = "label", .type = AttributeSpec::Type::kString, .doc = "a name for breakpoints"},
      AttributeSpec{.name = "recompute",
                    .type = AttributeSpec::Type::kBool,
                    .doc = "a gradient computes the results again instead of keeping them",
                    .fallback = Attribute(false)}};
  return kCommon;
}

const AttributeSpec* find_any_attribute_spec(const OpRecord& op, std::string_view name) {
  if (const AttributeSpec* own = find_attribute_spec(op, name)) return own;
  for (const AttributeSpec& common : common_attributes()) {
    if (common.name == name) return &common;
  }
  return nullptr;
}

const OpRecord& record(OpKind kind) { return table()[static_cast<size_t>(kind)]; }

std::optional<OpKind> find_op(std::string_view mnemonic) {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (table()[i].mnemonic == mnemonic) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

std::vector<Type> operand_types(const Function& function, const Instruction& instruction) {
  std::vector<Type> types;
  for (const Operand& operand : instruction.operands) {
    if (operand.value.valid()) types.push_back(function.value(operand.value).type);
  }
  return types;
}

std::vector<Type> written_types(const Function& function, const Instruction& instruction) {
  std::vector<Type> types;
  for (const ValueId result : instruction.results) types.push_back(function.value(result).type);
  return types;
}

size_t slot_of(const OpRecord& op, size_t operand) {
  for (size_t s = 0; s < op.operands.size(); ++s) {
    if (s == operand || op.operands[s].arity == OperandSpec::Arity::kVariadic) return s;
  }
  return op.operands.size();
}

PartialUse partial_use(const OpCall& call, size_t operand, Reduction kind) {
  const OpRecord& op = record(call.kind);
  if (op.partial != nullptr) return op.partial(call, operand, kind);
  const size_t slot = slot_of(op, operand);
  if (slot >= op.operands.size()) return PartialUse::kReduceFirst;
  const PartialUses& uses = op.operands[slot].partial;
  const std::array<PartialUse, 5> by_kind = {uses.sum, PartialUse::kReduceFirst, uses.prod,
                                             uses.min, uses.max};
  return by_kind[static_cast<size_t>(kind)];
}

Expected<std::vector<Type>> check_and_infer(const Program& program, const Function& function,
                                            const Instruction& instruction) {
  const OpRecord& op = record(instruction.kind);
  const std::vector<Type> operands = operand_types(function, instruction);
  const std::vector<Type> written = written_types(function, instruction);
  std::vector<Diagnostic> errors;
  check_operands(errors, op, instruction);
  check_attributes(errors, op, instruction);
  check_tensors(errors, op, instruction, operands);
  const OpCall call = {.kind = instruction.kind,
                       .operands = operands,
                       .attributes = instruction.attributes,
                       .instruction = &instruction,
                       .function = &function,
                       .program = &program,
                       .written = written};
  if (errors.empty()) check_constraints(errors, op, call);
  if (!errors.empty()) {
    return tl::unexpected(Error{ErrorKind::kInvalid, std::move(errors)});
  }
  if (op.infer == nullptr) return std::vector<Type>(op.results.size(), Type(EventType{}));
  auto types = op.infer(call);
  if (!types) {
    locate(types.error(), instruction);
    return types;
  }
  if (types->size() < instruction.results.size()) {
    return fail_at(ErrorKind::kInvalid, "op_c5",
                   fmt::format("{} has {} results, {} named", op.mnemonic, types->size(),
                               instruction.results.size()),
                   instruction.name_span);
  }
  return types;
}

}  // namespace hostir
