#include "interp/session/commands/places.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include "hostir/ir/access.h"

namespace hostir::interp {
namespace {

// The instructions of the text for which f(index) is true.
template <class F>
std::vector<CodeIndex> all_where(const ProgramView& view, F f) {
  std::vector<CodeIndex> out;
  for (CodeIndex i = 0; i < view.instructions.size(); ++i) {
    if (!view.mnemonic(i).empty() && f(i)) out.push_back(i);
  }
  return out;
}

std::vector<CodeIndex> at_address(const ProgramView& view, const std::string& function,
                                  int64_t number) {
  const std::string address = fmt::format("@{}#{}", function, number);
  return all_where(view, [&](CodeIndex i) { return view.instructions[i].address == address; });
}

bool mentions(const Code& code, CodeIndex i, std::string_view name) {
  const Function& f = *code.functions[code.instructions[i].function];
  const Instruction& source = code.source(i);
  for (const ValueId v : source.results) {
    if (f.value(v).name == name) return true;
  }
  for (const Operand& o : source.operands) {
    if (writes(o.access) && o.value.valid() && f.value(o.value).name == name) return true;
  }
  return false;
}

// The order of addresses in the text: functions as the run enters them, the entry first.
class TextOrder {
 public:
  using Position = std::pair<size_t, int64_t>;

  explicit TextOrder(const ProgramView& view) : view_(view) { functions_.emplace(view.entry, 0); }

  Position of(CodeIndex i) {
    const std::string_view address = view_.instructions[i].address;
    const size_t mark = address.rfind('#');
    Position out;
    if (mark == std::string_view::npos) return {functions_.size(), i};
    std::from_chars(address.data() + mark + 1, address.data() + address.size(), out.second);
    const std::string function(address.substr(1, mark - 1));
    out.first = functions_.try_emplace(function, functions_.size()).first->second;
    return out;
  }

 private:
  const ProgramView& view_;
  std::map<std::string, size_t> functions_;
};

// `all_reduce#2` counts in the text: copies of an inlined call count once.
std::vector<CodeIndex> of_op(const ProgramView& view, const Place& place) {
  std::vector<CodeIndex> out =
      all_where(view, [&](CodeIndex i) { return view.mnemonic(i) == place.name; });
  if (place.number == 0) return out;
  TextOrder order(view);
  for (CodeIndex i = 0; i < view.instructions.size(); ++i) order.of(i);
  std::set<TextOrder::Position> positions;
  for (const CodeIndex i : out) positions.insert(order.of(i));
  if (place.number < 0 || static_cast<size_t>(place.number) > positions.size()) return {};
  const auto wanted = *std::next(positions.begin(), place.number - 1);
  std::erase_if(out, [&](CodeIndex i) { return order.of(i) != wanted; });
  return out;
}

std::vector<CodeIndex> of_value(const ProgramView& view, const std::string& name) {
  return all_where(view, [&](CodeIndex i) { return view.code && mentions(*view.code, i, name); });
}

std::vector<CodeIndex> of_label(const ProgramView& view, const std::string& label) {
  return all_where(view, [&](CodeIndex i) {
    const auto* text =
        view.code ? view.code->source(i).attributes.get<std::string>("label") : nullptr;
    return text && *text == label;
  });
}

std::string ops_in(const ProgramView& view) {
  std::set<std::string_view> names;
  for (CodeIndex i = 0; i < view.instructions.size(); ++i) names.insert(view.mnemonic(i));
  names.erase("");
  return std::string(fmt::to_string(fmt::join(names, ", ")));
}

std::string what_there_is(const Place& place, const ProgramView& view) {
  switch (place.kind) {
    case Place::Kind::kOp:
      return "; its ops are " + ops_in(view);
    case Place::Kind::kAddress:
      return view.code ? fmt::format("; @{} has {} instructions", view.entry,
                                     view.code->functions.front()->preorder().size())
                       : fmt::format("; the log lists {} instructions", view.instructions.size());
    case Place::Kind::kValue:
    case Place::Kind::kLabel:
      return view.code ? "" : ": the log has no program text; name an op or an address";
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
  std::vector<CodeIndex> out;
  switch (place.kind) {
    case Kind::kAddress: {
      std::string name = place.name;
      if (name.empty()) name = function.empty() ? view.entry : function;
      out = at_address(view, name, place.number);
      break;
    }
    case Kind::kFunction:
      out = at_address(view, place.name, 1);
      break;
    case Kind::kValue:
      out = of_value(view, place.name);
      break;
    case Kind::kOp:
      out = of_op(view, place);
      break;
    case Kind::kLabel:
      out = of_label(view, place.name);
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
              fmt::format("there is no {} in @{}{}", to_string(place), view.entry,
                          what_there_is(place, view)));
}

}  // namespace hostir::interp
