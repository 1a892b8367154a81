#include "interp/session/places.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/ops/record.h"
#include "interp/core/breakpoints.h"

namespace hostir::interp {
namespace {

bool is_text(const CodeInstruction& c) { return c.role == CodeRole::kInstruction; }

std::string_view mnemonic(const CodeInstruction& c) { return record(c.kind).mnemonic; }

// Calls f(code index) for every instruction of the text.
template <class F>
void for_each(const Code& code, F f) {
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    if (is_text(code.instructions[i])) f(static_cast<CodeIndex>(i));
  }
}

bool mentions(const Code& code, CodeIndex i, std::string_view name) {
  const Function& f = *code.functions[code.instructions[i].function];
  const Instruction& source = code.source(i);
  for (const ValueId v : source.results) {
    if (f.value(v).name == name) return true;
  }
  for (const Operand& o : source.operands) {
    const bool writes = o.access == Access::kWrite || o.access == Access::kReadWrite;
    if (writes && o.value.valid() && f.value(o.value).name == name) return true;
  }
  return false;
}

// The 1-based ordinal of an instruction among those of its op, in text order: `all_reduce#2`.
int64_t op_ordinal(const Code& code, CodeIndex index) {
  // Counts in the text: copies of an inlined call count once.
  std::set<std::pair<uint32_t, uint32_t>> seen;
  const CodeInstruction& wanted = code.instructions[index];
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (!is_text(c) || c.kind != wanted.kind) continue;
    seen.insert({c.function, c.address});
  }
  int64_t n = 0;
  for (const auto& [function, address] : seen) {
    ++n;
    if (function == wanted.function && address == wanted.address) break;
  }
  return n;
}

std::vector<CodeIndex> of_op(const Code& code, const Place& place) {
  std::vector<CodeIndex> out;
  for_each(code, [&](CodeIndex i) {
    if (mnemonic(code.instructions[i]) != place.name) return;
    if (place.number == 0 || op_ordinal(code, i) == place.number) out.push_back(i);
  });
  return out;
}

std::vector<CodeIndex> of_value(const Code& code, const std::string& name) {
  std::vector<CodeIndex> out;
  for_each(code, [&](CodeIndex i) {
    if (mentions(code, i, name)) out.push_back(i);
  });
  return out;
}

std::vector<CodeIndex> of_label(const Code& code, const std::string& label) {
  std::vector<CodeIndex> out;
  for_each(code, [&](CodeIndex i) {
    const auto* text = code.source(i).attributes.get<std::string>("label");
    if (text && *text == label) out.push_back(i);
  });
  return out;
}

std::string ops_in(const Code& code) {
  std::set<std::string_view> names;
  for_each(code, [&](CodeIndex i) { names.insert(mnemonic(code.instructions[i])); });
  std::string out;
  for (const std::string_view n : names) out += (out.empty() ? "" : ", ") + std::string(n);
  return out;
}

std::string what_there_is(const Place& place, const ProgramView& view) {
  const Code& code = *view.code;
  switch (place.kind) {
    case Place::Kind::kOp:
      return "; its ops are " + ops_in(code);
    case Place::Kind::kAddress:
      return fmt::format("; @{} has {} instructions", code.entry,
                         code.functions.front()->preorder().size());
    default:
      return "";
  }
}

}  // namespace

std::vector<uint32_t> find_registers(const Code& code, std::string_view name) {
  std::vector<uint32_t> out;
  for (uint32_t reg = 0; reg < code.registers.size(); ++reg) {
    const RegisterInfo& info = code.registers[reg];
    if (info.value.valid() && code.functions[info.function]->value(info.value).name == name)
      out.push_back(reg);
  }
  std::stable_sort(out.begin(), out.end(), [&](uint32_t a, uint32_t b) {
    return code.registers[a].function < code.registers[b].function;
  });
  return out;
}

Expected<std::vector<CodeIndex>> find_places(const Place& place, const ProgramView& view,
                                             const std::string& function) {
  using Kind = Place::Kind;
  const Code& code = *view.code;
  std::vector<CodeIndex> out;
  switch (place.kind) {
    case Kind::kAddress: {
      std::string name = place.name;
      if (name.empty()) name = function.empty() ? code.entry : function;
      out = find_codes(code, name, static_cast<uint32_t>(place.number));
      break;
    }
    case Kind::kFunction:
      out = find_codes(code, place.name, 1);
      break;
    case Kind::kValue:
      out = of_value(code, place.name);
      break;
    case Kind::kOp:
      out = of_op(code, place);
      break;
    case Kind::kLabel:
      out = of_label(code, place.name);
      break;
    case Kind::kLine:
      out = view.at_line(place.name, static_cast<uint32_t>(place.number));
      break;
    case Kind::kCollective:
    case Kind::kRendezvous:
    case Kind::kNan:
    case Kind::kWrite:
    case Kind::kFault:
    case Kind::kEnd:
      return out;
  }
  if (!out.empty()) return out;
  return fail(ErrorKind::kUsage, "no_place",
              fmt::format("there is no {} in @{}{}", to_string(place), code.entry,
                          what_there_is(place, view)));
}

}  // namespace hostir::interp
