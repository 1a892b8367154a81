#include "interp/session/what_if/what_if_program.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::interp::what_if_parts {
namespace {

std::string_view without_comment(std::string_view line) {
  const size_t comment = line.find("//");
  line = line.substr(0, comment);
  const size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

std::vector<Word> words_of_line(std::string_view line) {
  std::vector<Word> out;
  line = without_comment(line);
  int depth = 0;
  bool inside = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' && depth == 0) {
      inside = false;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (!inside) out.push_back({i, {}});
    inside = true;
    out.back().text += c;
  }
  return out;
}

size_t line_at(const std::vector<size_t>& starts, size_t offset) {
  return static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), offset) -
                             starts.begin()) -
         1;
}

}  // namespace

Expected<EditableProgram> EditableProgram::create(std::string text, const std::string& function,
                                                  std::vector<size_t> origins) {
  EditableProgram out;
  out.text_ = std::move(text);
  out.origins_ = std::move(origins);
  HOSTIR_TRY(out.read(function));
  if (out.one_per_line()) return out;
  out.text_ = text::print(*out.file_);
  out.reformatted_ = true;
  HOSTIR_TRY(out.read(function));
  return out;
}

Expected<void> EditableProgram::read(const std::string& function) {
  lines_ = split_lines(text_);
  starts_ = {0};
  for (const std::string& line : lines_) starts_.push_back(starts_.back() + line.size() + 1);
  nodes_.clear();
  SourceManager sources;
  const uint32_t file = sources.add("edited", text_);
  text::ParsedFile parsed = text::parse(sources, file);
  file_ = std::make_shared<const SourceFileProgram>(std::move(parsed.file));
  const auto part = std::find_if(file_->parts.begin(), file_->parts.end(), [&](const Program& p) {
    return p.find_function(function) != nullptr;
  });
  if (part == file_->parts.end())
    return fail(ErrorKind::kUsage, "no_function", "the text has no function @" + function);
  part_ = static_cast<size_t>(part - file_->parts.begin());
  if (!parsed.ok(part_)) {
    return tl::unexpected(Error{ErrorKind::kInvalid, std::move(parsed.diagnostics)});
  }
  for (const Function& f : program().functions) {
    if (f.kind != FunctionKind::kHost) continue;
    nodes_.emplace_back(&f, std::vector<Node>(f.instructions.size()));
    add_nodes(f, f.body, {}, 0);
  }
  return {};
}

void EditableProgram::add_nodes(const Function& function, RegionId region, InstructionSite parent,
                                size_t branch) {
  const std::vector<InstrId>& instructions = function.region(region).instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = function.instr(instructions[i]);
    Node& node = nodes_.back().second[instructions[i].index];
    node.parent = parent;
    node.branch = branch;
    node.index = i;
    const uint32_t end = std::max(instruction.span.begin + 1, instruction.span.end);
    node.lines = {line_at(starts_, instruction.span.begin), line_at(starts_, end - 1)};
    for (size_t r = 0; r < instruction.regions.size(); ++r)
      add_nodes(function, instruction.regions[r], {&function, instructions[i]}, r);
  }
}

// True if each instruction starts its own line, and regions open and close on lines with nothing
// else.
bool EditableProgram::one_per_line() const {
  for (const auto& [function, nodes] : nodes_) {
    for (const InstrId id : function->preorder()) {
      const Node& node = nodes[id.index];
      const Instruction& instruction = function->instr(id);
      const size_t around =
          node.parent.valid() ? nodes[node.parent.instr.index].lines.first : lines_.size();
      if (node.lines.first == around) return false;
      if (instruction.regions.empty()) continue;
      if (!without_comment(lines_[node.lines.first]).ends_with('{')) return false;
      if (trimmed(without_comment(lines_[node.lines.last])) != "}") return false;
    }
  }
  return true;
}

std::optional<InstructionSite> EditableProgram::find(const Code& code, CodeIndex index) const {
  if (index >= code.instructions.size()) return std::nullopt;
  const CodeInstruction& c = code.instructions[index];
  const Function* function = program().find_function(code.functions[c.function]->name);
  if (!function || function->kind != FunctionKind::kHost || c.address == 0) return std::nullopt;
  const std::vector<InstrId> order = function->preorder();
  if (c.address > order.size()) return std::nullopt;
  const InstrId id = order[c.address - 1];
  if (function->instr(id).kind != code.source(index).kind) return std::nullopt;
  return InstructionSite{function, id};
}

const Node& EditableProgram::node(const InstructionSite& spot) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const auto& f) { return f.first == spot.function; });
  return found->second[spot.instr.index];
}

std::vector<InstructionSite> EditableProgram::siblings(const InstructionSite& spot) const {
  const Node& n = node(spot);
  const RegionId region = n.parent.valid() ? at(n.parent).regions[n.branch] : spot.function->body;
  std::vector<InstructionSite> out;
  for (const InstrId id : spot.function->region(region).instructions)
    out.push_back({spot.function, id});
  return out;
}

InstructionSite EditableProgram::unit(const InstructionSite& spot) const {
  const InstructionSite parent = node(spot).parent;
  return parent.valid() && record(at(parent).kind).role == HostRole::kGroup ? parent : spot;
}

bool EditableProgram::communicates(const InstructionSite& spot) const {
  const Instruction& instruction = at(spot);
  if (record(instruction.kind).op_class == OpClass::kCommunication) return true;
  for (const RegionId region : instruction.regions) {
    for (const InstrId id : spot.function->region(region).instructions) {
      if (communicates({spot.function, id})) return true;
    }
  }
  return false;
}

bool EditableProgram::is_call(const InstructionSite& spot) const {
  const OpRecord& op = record(at(spot).kind);
  return op.op_class == OpClass::kCommunication || op.role == HostRole::kGroup;
}

int EditableProgram::indent(const InstructionSite& spot) const {
  const std::string& line = lines_[node(spot).lines.first];
  return static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
}

std::string EditableProgram::where(LineRange lines) const {
  bool here = false;  // only in this text
  if (!origins_.empty()) {
    const LineRange before = {origins_[lines.first], origins_[lines.last]};
    here = before.first == LineEdit::kNewLine || before.last == LineEdit::kNewLine ||
           before.first > before.last;
    if (!here) lines = before;
  }
  const std::string out = lines.count() == 1
                              ? fmt::format("line {}", lines.first + 1)
                              : fmt::format("lines {}-{}", lines.first + 1, lines.last + 1);
  return here ? out + " after the first edit" : out;
}

std::vector<Word> EditableProgram::words(const InstructionSite& spot) const {
  const LineRange lines = node(spot).lines;
  if (lines.count() != 1) return {};
  std::vector<Word> out = words_of_line(lines_[lines.first]);
  // `%e = ` names the result and is not part of the call.
  const auto equals =
      std::find_if(out.begin(), out.end(), [](const Word& w) { return w.text == "="; });
  if (equals != out.end()) out.erase(out.begin(), equals + 1);
  return out;
}

std::string EditableProgram::short_text(const InstructionSite& spot) const {
  if (record(at(spot).kind).role == HostRole::kGroup) return "the group";
  if (!at(spot).regions.empty()) return "the block";
  if (const auto* callee = at(spot).attributes.get<Symbol>("callee")) return "@" + callee->name;
  std::string out;
  for (const Word& w : words(spot)) {
    if (w.text.find('(') != std::string::npos || w.text == "on") break;
    out += (out.empty() ? "" : " ") + w.text;
  }
  return out.empty() ? std::string(record(at(spot).kind).mnemonic) : out;
}

std::pair<std::string, std::string> EditableProgram::texts_apart(const InstructionSite& a,
                                                                 const InstructionSite& b) const {
  std::pair<std::string, std::string> out(short_text(a), short_text(b));
  if (out.first != out.second) return out;
  const std::vector<Word> mine = words(a);
  const std::vector<Word> theirs = words(b);
  size_t differ = 0;
  while (differ < std::min(mine.size(), theirs.size()) && mine[differ].text == theirs[differ].text)
    ++differ;
  const auto up_to_there = [&](const std::vector<Word>& all) {
    std::string text;
    for (size_t i = 0; i < std::min(differ + 1, all.size()); ++i)
      text += (i == 0 ? "" : " ") + all[i].text;
    return text;
  };
  return {up_to_there(mine), up_to_there(theirs)};
}

std::pair<std::string, std::string> EditableProgram::told_apart(const InstructionSite& a,
                                                                const InstructionSite& b) const {
  const auto [one, two] = texts_apart(a, b);
  if (one == two) return {where(a), where(b)};
  return {fmt::format("{} ({})", one, where(a)), fmt::format("{} ({})", two, where(b))};
}

}  // namespace hostir::interp::what_if_parts
