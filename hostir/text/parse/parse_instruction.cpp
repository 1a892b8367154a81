// Parses instructions: the generic form of compute ops, and the assembly of all others.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/common_attributes.h"
#include "hostir/ops/dynamic.h"
#include "hostir/ops/table.h"
#include "hostir/text/attribute_text.h"
#include "hostir/text/parse/parse_expr.h"
#include "hostir/text/parse/parse_function.h"
#include "hostir/text/parse/parse_type.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

bool starts_number(const Token& token) {
  return token.kind == TokenKind::kInt || token.kind == TokenKind::kFloat || token.is("-");
}

bool starts_operand(const Token& token) {
  return token.kind == TokenKind::kValue || token.is("none");
}

std::vector<std::string> mnemonics() {
  std::vector<std::string> words;
  for (size_t i = 0; i < kOpCount; ++i) {
    words.emplace_back(record(static_cast<OpKind>(i)).mnemonic);
  }
  return words;
}

// Fusions and host functions have the same loops.
bool is_loop_part(const OpRecord& op, FunctionKind kind) {
  return kind == FunctionKind::kFusion &&
         (op.role == HostRole::kLoop || op.role == HostRole::kYield);
}

// The tensor op meant by another framework's name or by the name of a host instruction; empty if
// there is none.
std::string_view name_here(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"sum", "reduce_sum"},
      {"mean", "reduce_mean"},
      {"max", "reduce_max"},
      {"min", "reduce_min"},
      {"prod", "reduce_prod"},
      {"any", "reduce_any"},
      {"all", "reduce_all"},
      {"amax", "reduce_max"},
      {"amin", "reduce_min"},
      {"greater", "compare"},
      {"less", "compare"},
      {"equal", "compare"},
      {"gt", "compare"},
      {"lt", "compare"},
      {"eq", "compare"},
      {"ge", "compare"},
      {"le", "compare"},
      {"ne", "compare"},
      {"index_select", "take"},
      {"embedding", "take"},
      {"gather", "take"},
      {"scatter", "put"},
      {"where", "select"},
      {"permute", "transpose"},
      {"broadcast", "broadcast_in_dim"},
      {"reduce", "reduce_sum"},
      {"view", "reshape"},
      {"bmm", "matmul"},
      {"split", "slice"},
      {"square", "mul"},
      {"exp2", "pow"},
      {"concatenate", "concat"},
      {"cat", "concat"},
      {"stack", "concat"},
      {"expand", "broadcast_in_dim"},
      {"broadcast_to", "broadcast_in_dim"},
      {"permute_dims", "transpose"},
      {"swapaxes", "transpose"},
      {"convert", "cast"},
      {"to", "cast"},
      {"negative", "neg"},
      {"power", "pow"},
      {"multiply", "mul"},
      {"subtract", "sub"},
      {"divide", "div"},
      {"flip", "reverse"},
      {"arange", "iota"},
      {"sdpa", "scaled_dot_product_attention"},
      {"attention", "scaled_dot_product_attention"},
      {"swish", "silu"},
      {"logistic", "sigmoid"},
      {"remainder", "rem"},
      {"xor", "bit_xor"},
      {"not", "logical_not"},
      {"and", "logical_and"},
      {"or", "logical_or"},
  };
  for (const auto& [theirs, ours] : kNames) {
    if (theirs == word) return ours;
  }
  return {};
}

}  // namespace

struct FunctionParser::Draft {
  Instruction instruction;
  std::vector<NewName> results;
  std::vector<Type> written;              // written types of the first results
  std::optional<Sharding> sharding;       // a sharding without a type
  std::vector<NewName> region_arguments;  // arguments of the next region
  std::vector<Instruction> literals;      // constants to insert before the instruction
  const OpRecord* op = nullptr;
  uint32_t begin = 0;
};

bool FunctionParser::parse_instruction(RegionId region) {
  Draft draft;
  cursor_.begin_construct();
  draft.instruction.comments.leading = cursor_.take_comments();
  if (function_.region(region).instructions.empty()) {
    auto& lines = draft.instruction.comments.leading;
    while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  }
  draft.begin = cursor_.begin_here();
  const std::vector<Element>* elements = nullptr;
  bool ok = parse_result_names(draft) && parse_mnemonic(draft);
  if (ok) {
    elements = &assembly(draft.instruction.kind);
    ok = elements->empty() ? parse_generic_form(draft) : parse_elements(draft, *elements);
  }
  if (ok && !elements->empty()) ok = parse_attribute_list(draft);
  ok = ok && parse_from(draft);
  if (ok && !cursor_.at("}") && !cursor_.at_end() && !cursor_.peek().first_on_line) {
    cursor_.unexpected("the end of the instruction");
    ok = false;
  }
  if (!ok) {
    // Declare its result names anyway, so that their uses are not reported as well.
    for (const NewName& name : draft.results) {
      if (!lookup(name.name)) declare(name, NoType{});
    }
    return false;
  }
  finish(draft, region);
  return true;
}

bool FunctionParser::parse_result_names(Draft& draft) {
  if (!cursor_.at(TokenKind::kValue)) return true;
  do {
    const SourceSpan span = cursor_.span_here();
    const Token* name = cursor_.expect(TokenKind::kValue, "a value name");
    if (!name) return false;
    draft.results.push_back({std::string(name->text), span});
  } while (cursor_.accept(","));
  return cursor_.expect("=");
}

bool FunctionParser::parse_mnemonic(Draft& draft) {
  const SourceSpan span = cursor_.span_here();
  const Token* word = cursor_.expect(TokenKind::kWord, "an operation");
  if (!word) return false;
  const auto kind = find_op(word->text);
  if (!kind) {
    Diagnostic& d =
        cursor_.error("op_c6", "unknown operation \"" + std::string(word->text) + "\"", span);
    if (const std::string_view ours = name_here(word->text); !ours.empty()) {
      d.notes.push_back({fmt::format("here it is \"{0}\": hostir ops {0}", ours), {}});
    } else {
      suggest(d, word->text, mnemonics());
    }
    return false;
  }
  const OpClass op_class = record(*kind).op_class;
  if (function_.kind != FunctionKind::kHost && op_class != OpClass::kCompute &&
      *kind != OpKind::return_ && !is_loop_part(record(*kind), function_.kind)) {
    Diagnostic& d = cursor_.error(
        "op_c7", fmt::format("{} is an instruction of host functions", word->text), span);
    if (const std::string_view ours = name_here(word->text); !ours.empty()) {
      d.notes.push_back({fmt::format("for tensors it is \"{0}\": hostir ops {0}", ours), {}});
    } else if (op_class == OpClass::kCommunication) {
      d.notes.push_back(
          {"the compiler communicates where shardings differ: write the sharding that "
           "a value must have, or use reshard",
           {}});
    }
    return false;
  }
  draft.instruction.kind = *kind;
  draft.instruction.name_span = span;
  draft.op = &record(*kind);
  return true;
}

// `%r = op %a, %b {attribute = value} : type`
bool FunctionParser::parse_generic_form(Draft& draft) {
  const Token& token = cursor_.peek();
  // Operands begin on the line of the mnemonic; the next line is the next instruction.
  const bool operands = !token.first_on_line && !token.is("{") && !token.is(":") &&
                        !token.is("<") && !token.is("}") && !token.is("from");
  if (operands && !cursor_.at_end()) {
    do {
      const auto slot = slot_of(*draft.op, draft.instruction.operands.size());
      if (!parse_operand(draft, static_cast<uint8_t>(std::min<size_t>(slot, 255)), Access::kUse)) {
        return false;
      }
    } while (cursor_.accept(","));
  }
  if (!parse_attribute_list(draft)) return false;
  if (cursor_.at("<")) {
    draft.sharding = parse_sharding(cursor_);
    return draft.sharding.has_value();
  }
  return !cursor_.accept(":") || parse_written_types(draft);
}

bool FunctionParser::parse_elements(Draft& draft, const std::vector<Element>& elements) {
  for (const Element& element : elements) {
    if (!parse_element(draft, element)) return false;
  }
  return true;
}

bool FunctionParser::parse_element(Draft& draft, const Element& element) {
  switch (element.kind) {
    case Element::Kind::kLiteral:
      return cursor_.expect(element.text);
    case Element::Kind::kOperands:
      return parse_operands(draft, element);
    case Element::Kind::kAttribute: {
      const AttributeSpec* spec = find_attribute_spec(*draft.op, element.text);
      return spec && parse_attribute_value(draft, *spec, ListBrackets::kLeftOut);
    }
    case Element::Kind::kRanges:
      return parse_ranges_element(draft, element);
    case Element::Kind::kType:
      return parse_written_types(draft);
    case Element::Kind::kRegionArgument: {
      const SourceSpan span = cursor_.span_here();
      const Token* name = cursor_.expect(TokenKind::kValue, "a loop variable");
      if (name) draft.region_arguments.push_back({std::string(name->text), span});
      return name != nullptr;
    }
    case Element::Kind::kRegionBinding:
      return parse_region_binding(draft, element.slot);
    case Element::Kind::kRegion: {
      const RegionId region = function_.add_region();
      draft.instruction.regions.push_back(region);
      return parse_region(region, std::exchange(draft.region_arguments, {}));
    }
    case Element::Kind::kOptional:
      return element.children.empty() || !starts_element(draft, element.children.front()) ||
             parse_elements(draft, element.children);
  }
  return false;
}

bool FunctionParser::starts_element(const Draft& draft, const Element& element) const {
  const Token& token = cursor_.peek();
  switch (element.kind) {
    case Element::Kind::kLiteral:
      return token.is(element.text);
    case Element::Kind::kOperands: {
      const Access access = draft.op->operands[element.slot].access;
      return access == Access::kUse ? starts_operand(token) : token.is(access_word(access));
    }
    case Element::Kind::kAttribute: {
      const AttributeSpec* spec = find_attribute_spec(*draft.op, element.text);
      return spec && starts_attribute(token, *spec);
    }
    case Element::Kind::kRanges:
      return starts_expr(token) || token.is(":");
    case Element::Kind::kType:
      return token.is("tensor") || token.is("shard");
    case Element::Kind::kRegionArgument:
    case Element::Kind::kRegionBinding:
      return token.kind == TokenKind::kValue;
    case Element::Kind::kRegion:
      return token.is("{");
    case Element::Kind::kOptional:
      return !element.children.empty() && starts_element(draft, element.children.front());
  }
  return false;
}

bool FunctionParser::parse_operands(Draft& draft, const Element& element) {
  const OperandSpec& spec = draft.op->operands[element.slot];
  const Token& token = cursor_.peek();
  if (spec.access != Access::kUse) {
    const std::string_view word = access_word(spec.access);
    if (token.is(word)) return parse_access_clause(draft, element.slot, spec.access);
    return spec.arity != OperandSpec::Arity::kOne || cursor_.expect(word);
  }
  if (!element.text.empty() && cursor_.accept(element.text)) return true;
  if (spec.arity == OperandSpec::Arity::kVariadic &&
      (!starts_operand(token) || token.first_on_line)) {
    return true;
  }
  do {
    if (!parse_operand(draft, element.slot, Access::kUse)) return false;
  } while (spec.arity == OperandSpec::Arity::kVariadic && cursor_.accept(","));
  return true;
}

// A number as an operand becomes a constant before the instruction, of the shape that it needs.
bool FunctionParser::parse_literal(Draft& draft, Operand operand) {
  const auto& slots = draft.op->operands;
  const bool pointwise = draft.op->shape == OpShape::kPointwise && slots.size() > 1;
  const bool start = operand.slot < slots.size() && slots[operand.slot].name == ops::kStartsSlot;
  if (!pointwise && !start) {  // an operand too many has no slot
    cursor_.unexpected("a value name");
    return false;
  }
  const auto number = parse_number(cursor_);
  if (!number) return false;
  Instruction constant;
  constant.kind = OpKind::constant;
  constant.attributes.set("value", *number);
  constant.span = constant.name_span = operand.span;
  const ValueId id = function_.add_value({}, NoType{});  // name_literals() names it
  function_.value(id).span = operand.span;
  constant.results.push_back(id);
  notes_.literals[id.index] = {*number, operand.span};
  draft.literals.push_back(std::move(constant));
  operand.value = id;
  draft.instruction.operands.push_back(std::move(operand));
  return true;
}

bool FunctionParser::parse_access_clause(Draft& draft, uint8_t slot, Access access) {
  cursor_.next();
  if (!cursor_.expect("(")) return false;
  while (!cursor_.at(")")) {
    if (!parse_operand(draft, slot, access)) return false;
    if (!cursor_.accept(",")) break;
  }
  return cursor_.expect(")");
}

bool FunctionParser::parse_operand(Draft& draft, uint8_t slot, Access access) {
  Operand operand{.access = access, .slot = slot, .span = cursor_.span_here()};
  if (access == Access::kUse && starts_number(cursor_.peek())) return parse_literal(draft, operand);
  if (!cursor_.accept("none")) {
    const Token* name = cursor_.expect(TokenKind::kValue, "a value name");
    if (!name) return false;
    operand.value = resolve(name->text, operand.span);
  }
  if (access != Access::kUse && cursor_.accept("->")) {
    operand.becomes = parse_layout(cursor_, mesh_of(operand.value));
    if (!operand.becomes) return false;
  }
  draft.instruction.operands.push_back(std::move(operand));
  return true;
}

bool FunctionParser::parse_attribute_value(Draft& draft, const AttributeSpec& spec,
                                           ListBrackets brackets) {
  const uint32_t begin = cursor_.begin_here();
  auto value = parse_attribute(cursor_, sources_, spec, brackets);
  if (!value) return false;
  check_names(*value, cursor_.span_from(begin));
  draft.instruction.attributes.set(spec.name, std::move(*value));
  return true;
}

bool FunctionParser::parse_ranges_element(Draft& draft, const Element& element) {
  ExprList lower, upper;
  const uint32_t begin = cursor_.begin_here();
  if (!cursor_.at("]") && !parse_ranges(cursor_, lower, upper)) return false;
  const SourceSpan span = cursor_.span_from(begin);
  check_names(Attribute(lower), span);
  check_names(Attribute(upper), span);
  const bool both = !takes_elements(*draft.op, element.second) || !are_single_indices(lower, upper);
  draft.instruction.attributes.set(element.text, std::move(lower));
  if (both) draft.instruction.attributes.set(element.second, std::move(upper));
  return true;
}

bool FunctionParser::parse_region_binding(Draft& draft, uint8_t slot) {
  do {
    const SourceSpan span = cursor_.span_here();
    const Token* name = cursor_.expect(TokenKind::kValue, "a carried value, as in %p = %e0");
    if (!name || !cursor_.expect("=")) return false;
    draft.region_arguments.push_back({std::string(name->text), span});
    if (!parse_operand(draft, slot, Access::kUse)) return false;
  } while (cursor_.accept(","));
  return true;
}

bool FunctionParser::parse_written_types(Draft& draft) {
  do {
    const uint32_t begin = cursor_.begin_here();
    auto type = parse_type(cursor_, sources_);
    if (!type) return false;
    check_names(*type, cursor_.span_from(begin));
    draft.written.push_back(std::move(*type));
  } while (cursor_.accept(","));
  if (draft.written.size() <= draft.results.size()) return true;
  cursor_.error("op_c5",
                std::to_string(draft.written.size()) + " types for " +
                    std::to_string(draft.results.size()) + " results",
                draft.instruction.name_span);
  return false;
}

bool FunctionParser::parse_attribute_list(Draft& draft) {
  if (!cursor_.at("{") || cursor_.peek().first_on_line) return true;
  cursor_.next();
  while (!cursor_.at("}")) {
    if (!parse_attribute_entry(draft)) return false;
    if (!cursor_.accept(",")) break;
  }
  return cursor_.expect("}");
}

bool FunctionParser::parse_attribute_entry(Draft& draft) {
  const SourceSpan span = cursor_.span_here();
  const Token* token = cursor_.expect(TokenKind::kWord, "an attribute name");
  if (!token) return false;
  const std::string name(token->text);
  if (!cursor_.expect("=")) return false;
  if (draft.instruction.attributes.has(name)) {
    cursor_.error("op_c8", "attribute \"" + name + "\" is given twice", span);
    notes_.broken = true;
    cursor_.skip_list_item();
    return true;
  }
  const AttributeSpec* spec = find_any_attribute_spec(*draft.op, name);
  if (spec) return parse_attribute_value(draft, *spec, ListBrackets::kWritten);
  Diagnostic& d = cursor_.error(
      "op_c2", std::string(draft.op->mnemonic) + " has no attribute \"" + name + "\"", span);
  std::vector<std::string> names;
  for (const AttributeSpec& known : draft.op->attributes) names.emplace_back(known.name);
  if (!names.empty()) d.notes.push_back({"its attributes are " + quoted_list(names), {}});
  suggest(d, name, names);
  notes_.broken = true;
  cursor_.skip_list_item();
  return true;
}

bool FunctionParser::parse_from(Draft& draft) {
  if (!cursor_.accept("from")) return true;
  if (!cursor_.expect("(")) return false;
  do {
    auto function = cursor_.expect_symbol("an instruction, as in @f#1");
    if (!function || !cursor_.expect("#")) return false;
    const SourceSpan span = cursor_.span_here();
    const auto number = parse_int(cursor_, "a number");
    if (!number) return false;
    if (*number < 1 || *number > UINT32_MAX - 1) {
      cursor_.error("syntax_c4", "instructions are numbered from 1", span);
      return false;
    }
    draft.instruction.from.push_back({std::move(*function), static_cast<uint32_t>(*number)});
  } while (cursor_.accept(","));
  return cursor_.expect(")");
}

void FunctionParser::finish(Draft& draft, RegionId region) {
  Instruction& instruction = draft.instruction;
  instruction.span = cursor_.span_from(draft.begin);
  for (std::string& line : cursor_.take_inner_comments()) {
    instruction.comments.leading.push_back(std::move(line));
  }
  instruction.comments.trailing = cursor_.take_trailing_comment();
  for (size_t i = 0; i < draft.results.size(); ++i) {
    const bool written = i < draft.written.size();
    const ValueId id = declare(draft.results[i], written ? draft.written[i] : Type(NoType{}));
    instruction.results.push_back(id);
    if (!draft.sharding || i > 0) continue;
    function_.value(id).type = TensorType{DType::kF32, {}, draft.sharding};
    notes_.sharding_only.push_back(id);
  }
  std::stable_sort(instruction.operands.begin(), instruction.operands.end(),
                   [](const Operand& a, const Operand& b) { return a.slot < b.slot; });
  normalise_attributes(instruction);
  for (Instruction& literal : draft.literals) {
    function_.add_instruction(region, std::move(literal));
  }
  function_.add_instruction(region, std::move(instruction));
}

// Puts the attributes in record order and drops those with their default value.
void FunctionParser::normalise_attributes(Instruction& instruction) const {
  Attributes sorted;
  const auto take = [&](const AttributeSpec& spec) {
    const Attribute* value = instruction.attributes.find(spec.name);
    if (value && !(spec.fallback && *spec.fallback == *value)) sorted.set(spec.name, *value);
  };
  for (const AttributeSpec& spec : record(instruction.kind).attributes) take(spec);
  for (const AttributeSpec& spec : common_attributes()) take(spec);
  instruction.attributes = std::move(sorted);
}

}  // namespace hostir::text
