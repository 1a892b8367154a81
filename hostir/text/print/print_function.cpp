#include "hostir/text/print/print_function.h"

#include <algorithm>

#include "hostir/ops/common_attributes.h"
#include "hostir/ops/table.h"
#include "hostir/text/attribute_text.h"
#include "hostir/text/parse/cursor.h"

namespace hostir::text {

namespace {

std::string_view keyword(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::kFusion:
      return "fusion";
    case FunctionKind::kKernel:
      return "kernel";
    case FunctionKind::kHost:
      return "host";
  }
  return "";
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (const std::string& item : items) {
    if (!out.empty()) out += separator;
    out += item;
  }
  return out;
}

}  // namespace

void PrintedPlaces::shift(size_t first, size_t offset) {
  for (size_t i = first; i < places_.size(); ++i) {
    places_[i].begin += offset;
    places_[i].end += offset;
  }
}

void FunctionPrinter::note(PrintedPlaces::Place::Kind kind, const Instruction& i, size_t begin,
                           size_t end, size_t operand) {
  const auto index = static_cast<uint32_t>(&i - function_.instructions.data());
  places_.note({kind, index, static_cast<uint32_t>(operand), begin, end});
}

std::string FunctionPrinter::print() {
  std::string out;
  append_comments(out, function_.comments.leading, 0);
  append_documentation(out, function_.documentation);
  signature_ = out.size();
  out += signature() + " {\n";
  if (function_.body.valid()) region_body(out, function_.region(function_.body), 2);
  out += "}";
  end_ = out.size();
  return out + trailing_comment(function_.comments.trailing) + "\n";
}

void FunctionPrinter::locate(Function& copy, uint32_t file, size_t begin) const {
  const auto span = [&](size_t from, size_t to) {
    return SourceSpan{file, static_cast<uint32_t>(begin + from), static_cast<uint32_t>(begin + to)};
  };
  const std::string head = signature();
  const std::string name = symbol_text(copy.name);
  size_t at = head.find(name);
  copy.name_span = span(signature_ + at, signature_ + at + name.size());
  copy.span = span(signature_ + at, end_);
  for (const Parameter& p : copy.params) {
    Value& value = copy.value(p.value);
    const std::string written = "%" + value.name;
    at = head.find(written + ": ", at);
    value.span = span(signature_ + at, signature_ + at + written.size());
  }
  for (const PrintedPlaces::Place& place : places_.places()) {
    Instruction& i = copy.instructions[place.instruction];
    switch (place.kind) {
      case PrintedPlaces::Place::Kind::kInstruction:
        i.span = span(place.begin, place.end);
        break;
      case PrintedPlaces::Place::Kind::kMnemonic:
        i.name_span = span(place.begin, place.end);
        break;
      case PrintedPlaces::Place::Kind::kOperand:
        i.operands[place.operand].span = span(place.begin, place.end);
        break;
    }
  }
}

std::string FunctionPrinter::line(const Instruction& instruction) {
  regions_ = Regions::kElided;
  return instruction_text(instruction, 0);
}

std::string FunctionPrinter::signature() const {
  std::string head = std::string(keyword(function_.kind)) + " " + symbol_text(function_.name);
  if (function_.kind == FunctionKind::kHost) head += " on " + symbol_text(function_.mesh) + " ";
  std::vector<std::string> parameters;
  for (const Parameter& p : function_.params) parameters.push_back(parameter(p));
  std::string tail = results();
  if (!function_.rule.empty()) tail += " rule " + quoted(function_.rule);
  if (!function_.gradient.empty()) tail += " gradient " + symbol_text(function_.gradient);
  std::string out = head + "(" + join(parameters, ", ") + ")" + tail;
  if (out.size() + 2 <= kLineWidth || parameters.empty()) return out;
  const std::string separator = ",\n" + std::string(head.size() + 1, ' ');
  out = head + "(" + join(parameters, separator) + ")";
  const size_t last_line =
      out.size() - (out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1);
  const bool fits = last_line + tail.size() + 2 <= kLineWidth;
  return out + (fits || tail.empty() ? tail : "\n   " + tail);
}

std::string FunctionPrinter::parameter(const Parameter& parameter) const {
  const Value& value = function_.value(parameter.value);
  return (parameter.inout ? "inout %" : "%") + value.name + ": " + to_string(value.type);
}

std::string FunctionPrinter::results() const {
  if (function_.results.empty()) return {};
  std::vector<std::string> items;
  for (const ResultDecl& result : function_.results) {
    std::string item = result.name.empty() ? "" : "%" + result.name + ": ";
    item += to_string(result.type);
    if (result.alias) item += " alias(%" + *result.alias + ")";
    items.push_back(std::move(item));
  }
  return " -> (" + join(items, ", ") + ")";
}

void FunctionPrinter::region_body(std::string& out, const Region& region, size_t indent) {
  for (const InstrId id : region.instructions) instruction(out, id, indent);
  append_comments(out, region.closing_comments, indent);
}

void FunctionPrinter::instruction(std::string& out, InstrId id, size_t indent) {
  const Instruction& i = function_.instr(id);
  append_comments(out, i.comments.leading, indent);
  std::string derived;
  // Compute this before printing the regions, so that numbers follow preorder.
  if (derived_) derived = derived_->comment(i);
  const size_t first = places_.count();
  const std::string text = instruction_text(i, indent);
  places_.shift(first, out.size() + indent);
  out += std::string(indent, ' ') + text + trailing_comment(i.comments.trailing);
  if (!derived.empty()) out += "  //= " + derived;
  out += "\n";
}

std::string FunctionPrinter::instruction_text(const Instruction& i, size_t indent) {
  next_region_ = next_region_argument_ = 0;
  std::string out;
  for (const ValueId result : i.results) {
    out += (out.empty() ? "%" : ", %") + function_.value(result).name;
  }
  if (!out.empty()) out += " = ";
  const size_t mnemonic = out.size();
  out += record(i.kind).mnemonic;
  note(PrintedPlaces::Place::Kind::kMnemonic, i, mnemonic, out.size());
  const std::vector<Element>& form = assembly(i.kind);
  const size_t first = places_.count();
  if (form.empty()) {
    const std::string body = generic_form(i);
    places_.shift(first, out.size());
    out += body;
  } else {
    const std::string body = elements(i, form, indent);
    if (!body.empty()) out += " ";
    places_.shift(first, out.size());
    out += body + attribute_list(i, form);
  }
  out += from_list(i);
  note(PrintedPlaces::Place::Kind::kInstruction, i, 0, out.size());
  return out;
}

std::string FunctionPrinter::generic_form(const Instruction& i) {
  std::string out;
  for (const Operand& o : i.operands) {
    out += out.empty() ? " " : ", ";
    append_operand(out, i, o);
  }
  out += attribute_list(i, {});
  const std::string written = types(i);
  return written.empty() ? out : out + " : " + written;
}

std::string FunctionPrinter::elements(const Instruction& i, const std::vector<Element>& list,
                                      size_t indent) {
  std::string out;
  for (const Element& e : list) {
    const size_t first = places_.count();
    const std::string text = element(i, e, indent);
    if (text.empty()) continue;
    if (e.space_before && !out.empty() && text.front() != ',') out += ' ';
    places_.shift(first, out.size());
    out += text;
  }
  return out;
}

std::string FunctionPrinter::element(const Instruction& i, const Element& e, size_t indent) {
  switch (e.kind) {
    case Element::Kind::kLiteral:
      return std::string(e.text);
    case Element::Kind::kOperands:
      return operands(i, e);
    case Element::Kind::kAttribute:
      return attribute(i, e.text);
    case Element::Kind::kRanges: {
      const auto* lower = i.attributes.get<ExprList>(e.text);
      const auto* upper = i.attributes.get<ExprList>(e.second);
      if (!lower || !upper) return attribute(i, e.text);
      return print_ranges(
          *lower, *upper,
          takes_elements(record(i.kind), e.second) ? SingleIndex::kAlone : SingleIndex::kAsRange);
    }
    case Element::Kind::kType:
      return types(i);
    case Element::Kind::kRegionArgument: {
      const auto& arguments = function_.region(i.regions.front()).arguments;
      const size_t at = next_region_argument_++;
      return at < arguments.size() ? "%" + function_.value(arguments[at]).name : std::string();
    }
    case Element::Kind::kRegionBinding:
      return binding(i, e.slot);
    case Element::Kind::kRegion: {
      if (next_region_ >= i.regions.size()) return {};
      const Region& region = function_.region(i.regions[next_region_++]);
      if (regions_ == Regions::kElided) return "{ ... }";
      std::string out = "{\n";
      const size_t outer = next_region_;
      if (derived_) derived_->enter_region();
      region_body(out, region, indent + 2);
      if (derived_) derived_->leave_region();
      next_region_ = outer;
      return out + std::string(indent, ' ') + "}";
    }
    case Element::Kind::kOptional:
      return present_group(i, e.children) ? elements(i, e.children, indent) : std::string();
  }
  return {};
}

// True if an element is present; decides whether to print an optional group.
bool FunctionPrinter::present(const Instruction& i, const Element& e) const {
  switch (e.kind) {
    case Element::Kind::kOperands:
    case Element::Kind::kRegionBinding:
      return std::any_of(i.operands.begin(), i.operands.end(),
                         [&](const Operand& o) { return o.slot == e.slot; });
    case Element::Kind::kAttribute:
    case Element::Kind::kRanges:
      return i.attributes.has(e.text);
    case Element::Kind::kType:
      return !types(i).empty();
    case Element::Kind::kRegion:
      return next_region_ < i.regions.size();
    case Element::Kind::kOptional:
      return present_group(i, e.children);
    case Element::Kind::kLiteral:
    case Element::Kind::kRegionArgument:
      return false;
  }
  return false;
}

bool FunctionPrinter::present_group(const Instruction& i, const std::vector<Element>& list) const {
  return std::any_of(list.begin(), list.end(), [&](const Element& e) { return present(i, e); });
}

std::string FunctionPrinter::operands(const Instruction& i, const Element& e) {
  std::string out;
  bool parenthesised = false;
  for (const Operand& o : i.operands) {
    if (o.slot != e.slot) continue;
    if (!out.empty()) {
      out += ", ";
    } else if (o.access != Access::kUse) {
      out = std::string(access_word(o.access)) + "(";
      parenthesised = true;
    }
    append_operand(out, i, o);
  }
  if (out.empty()) return std::string(e.text);
  return parenthesised ? out + ")" : out;
}

void FunctionPrinter::append_operand(std::string& out, const Instruction& i, const Operand& o) {
  const size_t name = o.value.valid() ? 1 + function_.value(o.value).name.size() : 4;  // or `none`
  note(PrintedPlaces::Place::Kind::kOperand, i, out.size(), out.size() + name,
       static_cast<size_t>(&o - i.operands.data()));
  out += operand(o);
}

std::string FunctionPrinter::operand(const Operand& operand) const {
  if (!operand.value.valid()) return "none";
  const Value& value = function_.value(operand.value);
  std::string out = "%" + value.name;
  if (!operand.becomes) return out;
  const Sharding* before = sharding_of(value.type);
  const bool same_mesh = operand.becomes->mesh == (before ? before->mesh : function_.mesh);
  return out + " -> " +
         (same_mesh ? operand.becomes->dims_to_string() : operand.becomes->to_string());
}

std::string FunctionPrinter::attribute(const Instruction& i, std::string_view name) const {
  const Attribute* value = i.attributes.find(name);
  return value ? print_attribute(*value, ListBrackets::kLeftOut) : std::string();
}

std::string FunctionPrinter::types(const Instruction& i) const {
  std::vector<std::string> items;
  for (const ValueId result : i.results) {
    const Type& type = function_.value(result).type;
    if (!is_tensor(type)) break;
    items.push_back(to_string(type));
  }
  return join(items, ", ");
}

std::string FunctionPrinter::binding(const Instruction& i, uint8_t slot) {
  if (i.regions.empty()) return {};
  const auto& arguments = function_.region(i.regions.front()).arguments;
  size_t at = next_region_argument_;
  std::string out;
  for (const Operand& o : i.operands) {
    if (o.slot != slot || at >= arguments.size()) continue;
    if (!out.empty()) out += ", ";
    out += "%" + function_.value(arguments[at++]).name + " = ";
    append_operand(out, i, o);
  }
  return out;
}

std::string FunctionPrinter::attribute_list(const Instruction& i,
                                            const std::vector<Element>& form) const {
  std::vector<std::string> items;
  const OpRecord& op = record(i.kind);
  const auto add = [&](std::string_view name, const Attribute& value) {
    items.push_back(std::string(name) + " = " + print_attribute(value, ListBrackets::kWritten));
  };
  for (const AttributeSpec& spec : op.attributes) {
    const Attribute* value = i.attributes.find(spec.name);
    if (!value || assembly_mentions(form, spec.name)) continue;
    if (!spec.fallback || !(*spec.fallback == *value)) add(spec.name, *value);
  }
  for (const AttributeSpec& spec : common_attributes()) {
    if (const Attribute* value = i.attributes.find(spec.name)) add(spec.name, *value);
  }
  return items.empty() ? std::string() : " {" + join(items, ", ") + "}";
}

std::string FunctionPrinter::from_list(const Instruction& i) const {
  std::vector<std::string> items;
  for (const OpRef& ref : i.from) {
    items.push_back(symbol_text(ref.function) + "#" + std::to_string(ref.number));
  }
  return items.empty() ? std::string() : " from(" + join(items, ", ") + ")";
}

}  // namespace hostir::text
