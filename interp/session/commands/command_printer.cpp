// Prints commands as text that parses back to the same command.
#include <fmt/core.h>

#include <limits>

#include "hostir/text/parse/cursor.h"
#include "interp/session/commands/command.h"
#include "interp/session/commands/command_table.h"

namespace hostir::interp {
namespace {

using K = CommandKind;

std::string place_clause(const Command& c) {
  if (!c.place) return "";
  if (c.kind == K::kWatch) return " %" + c.place->name;
  return " " + to_string(*c.place);
}

std::string number_text(const Command& c, int64_t n) {
  if (c.kind == K::kGoto && n == std::numeric_limits<int64_t>::max()) return "end";
  return fmt::format("{}", n);
}

// The word before a rank selector; empty if the selector is the only argument.
std::string_view rank_word(CommandKind kind) {
  switch (kind) {
    case K::kBreak:
    case K::kTbreak:
    case K::kWatch:
    case K::kDprintf:
      return " on ";
    case K::kPrint:
    case K::kExamine:
    case K::kInside:
    case K::kSet:
    case K::kBacktrace:
      return " rank ";
    default:
      return " ";
  }
}

}  // namespace

std::string to_string(const Place& p) {
  using Kind = Place::Kind;
  switch (p.kind) {
    case Kind::kAddress:
      return p.name.empty() ? fmt::format("#{}", p.number)
                            : fmt::format("@{}#{}", p.name, p.number);
    case Kind::kFunction:
      return "@" + p.name;
    case Kind::kValue:
      return "%" + p.name;
    case Kind::kOp:
      return p.number > 0 ? fmt::format("{}#{}", p.name, p.number) : p.name;
    case Kind::kLabel:
      return text::quoted(p.name);
    case Kind::kLine:
      return p.name.empty() ? fmt::format("line {}", p.number)
                            : fmt::format("{}:{}", p.name, p.number);
    case Kind::kCollective:
      return "collective";
    case Kind::kRendezvous:
      return p.name.empty() ? "rendezvous" : "rendezvous %" + p.name;
    case Kind::kNan:
      return p.name.empty() ? "nan" : "nan %" + p.name;
    case Kind::kWrite:
      return "write %" + p.name;
    case Kind::kFault:
      return "fault";
    case Kind::kEnd:
      return "end";
  }
  return "";
}

std::string to_string(const RankSelector& r) {
  using Kind = RankSelector::Kind;
  std::string out;
  switch (r.kind) {
    case Kind::kFocus:
      return "focus";
    case Kind::kAll:
      return "all";
    case Kind::kCoordinate:
      return fmt::format("{}={}", r.axes.front(), r.coordinate);
    case Kind::kGroup:
      out = "group";
      for (size_t i = 0; i < r.axes.size(); ++i) out += (i == 0 ? " " : ", ") + r.axes[i];
      return out;
    case Kind::kList:
      for (size_t i = 0; i < r.ranks.size(); ++i)
        out += fmt::format("{}{}", i == 0 ? "" : ",", r.ranks[i]);
      return out;
  }
  return out;
}

std::string to_string(const Command& c) {
  std::string out(spec(c.kind).name);
  const bool counted = c.kind == K::kExamine && !c.numbers.empty();
  if (counted || c.format != 0) out += "/";
  if (counted) out += fmt::format("{}", c.numbers.front());
  if (c.format != 0) out += c.format;
  if (c.topic) out += fmt::format(" {}", name(*c.topic));
  if (c.kind != K::kInside) out += place_clause(c);
  if (!c.value.empty()) out += " %" + c.value;
  out += to_string(c.slice);
  if (c.kind == K::kPrint && c.condition) out += " " + to_string(*c.condition);
  for (const int64_t n : c.numbers) {
    if (!counted) out += " " + number_text(c, n);
  }
  if (c.kind == K::kDprintf)
    out += ", " + text::quoted(c.text);
  else if (!c.text.empty())
    out += (c.kind == K::kSet ? " = " : " ") + c.text;
  if (c.from == Command::From::kGlobal) out += " global";
  if (c.ranks.kind != RankSelector::Kind::kFocus || c.from == Command::From::kRanks ||
      c.kind == K::kRank || c.kind == K::kFocus)
    out += std::string(rank_word(c.kind)) + to_string(c.ranks);
  if (c.kind == K::kInside && c.place) out += " at" + place_clause(c);
  if (c.condition && c.kind != K::kPrint)
    out += (c.kind == K::kCondition ? " " : " if ") + to_string(*c.condition);
  return out;
}

}  // namespace hostir::interp
