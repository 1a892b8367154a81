#include "hostir/text/parse/parse_piece.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

bool parse_field(Cursor& cursor, Machine& machine, std::set<std::string>& seen) {
  cursor.begin_construct();
  const SourceSpan span = cursor.span_here();
  const Token* key =
      cursor.expect(TokenKind::kWord, "a field of a machine, as in launch_ns = 2000");
  if (!key) return false;
  const std::string name(key->text);
  const MachineField* field = find_machine_field(name);
  if (!field) {
    Diagnostic& d = cursor.error("machine_c1", "machines have no field \"" + name + "\"", span);
    std::vector<std::string> names;
    for (const MachineField& f : machine_fields()) names.push_back(f.name);
    suggest(d, name, names);
    return false;
  }
  if (!cursor.expect("=")) return false;
  const SourceSpan number_span = cursor.span_here();
  const auto value = parse_number(cursor);
  if (!value) return false;
  if (!(*value >= 0)) {
    cursor.error("machine_c2", "field \"" + name + "\" must not be negative", number_span);
    return false;
  }
  if (!seen.insert(name).second) {
    cursor.error("machine_c3", "field \"" + name + "\" is given twice", span);
    return false;
  }
  field->set(machine, *value);
  return true;
}

}  // namespace

std::optional<Machine> parse_machine(Cursor& cursor) {
  Machine machine = default_machine();
  machine.documentation.clear();
  machine.span = cursor.span_here();
  auto name = cursor.expect_symbol("a name, as in @h200x8");
  if (!name || !cursor.expect("{")) return std::nullopt;
  machine.name = std::move(*name);
  std::set<std::string> seen;
  bool complete = true;
  while (!cursor.at("}") && !cursor.at_end() && !cursor.at_piece()) {
    const size_t start = cursor.position();
    const int braces = cursor.braces();
    if (!parse_field(cursor, machine, seen)) {
      complete = false;
      cursor.skip_to_next_instruction(start, braces);
    }
    cursor.accept(",");
  }
  if (!cursor.expect("}")) return std::nullopt;
  return complete ? std::optional(std::move(machine)) : std::nullopt;
}

}  // namespace hostir::text
