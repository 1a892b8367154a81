#include "interp/session/live/live_breakpoints.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/core/history/breakpoint_matcher.h"
#include "interp/session/commands/places.h"
#include "interp/session/commands/rank_selection.h"
#include "interp/session/expressions/live_conditions.h"
#include "interp/session/expressions/log_text.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

using Accepts = std::function<bool(const Interpreter&, Rank, CodeIndex)>;

Accepts both(Accepts a, Accepts b) {
  if (!a) return b;
  if (!b) return a;
  return [a = std::move(a), b = std::move(b)](const Interpreter& i, Rank rank, CodeIndex code) {
    return a(i, rank, code) && b(i, rank, code);
  };
}

// A condition that cannot be evaluated at a stop (an element that the rank does not hold) is false.
Accepts condition_holds(Expression condition) {
  return [p = std::move(condition)](const Interpreter& i, Rank rank, CodeIndex code) {
    const auto result = holds(p, rank_lookup(i, rank, code));
    return result && *result;
  };
}

// True if the rank holds a part of the watched slice.
Accepts holds_slice(std::string name, std::vector<SliceRange> slice) {
  return [name = std::move(name), slice = std::move(slice)](const Interpreter& i, Rank rank,
                                                            CodeIndex) {
    const auto buffer = find_buffer(i, rank, name);
    if (!buffer) return false;
    const auto box = slice_box(slice, buffer->placement->global);
    return box && !box->intersect(buffer->placement->box).empty();
  };
}

// Rejects a slice that is out of range for every tensor of this name: it would never be written.
// Shard sizes are global and known now; those of views are checked when the view exists.
Expected<void> check_slice(const Code& code, const std::string& name,
                           const std::vector<SliceRange>& slice) {
  if (slice.empty()) return {};
  Expected<void> wrong;
  for (const uint32_t reg : find_registers(code, name)) {
    const RegisterInfo& info = code.registers[reg];
    const Type& type = code.functions[info.function]->value(info.value).type;
    if (!std::holds_alternative<ShardType>(type)) return {};
    const auto extents = constant_extents(shape_of(type));
    if (!extents) return {};
    const auto box = slice_box(slice, *extents);
    if (box) return {};
    wrong = tl::unexpected(box.error());
  }
  return wrong;
}

Accepts at_rendezvous() {
  // True if all other members have arrived at the sequence number this rank is about to issue, so
  // that this rank is the last.
  return [](const Interpreter& i, Rank rank, CodeIndex code) {
    const CodeInstruction& c = i.code().instructions[code];
    if (c.comm == kNoComm) return false;
    for (const MeetingView& m : i.ledger()) {
      if (m.comm != c.comm || m.complete) continue;
      bool mine = false;
      bool others = true;
      for (const auto& [member, arrival] : m.members) {
        if (member == rank)
          mine = !arrival->arrived;
        else
          others = others && arrival->arrived;
      }
      if (mine && others) return true;
    }
    return false;
  };
}

Breakpoint::Stops stops_of(const Command& command, const Code& code) {
  const bool at_instruction = command.place->kind != Place::Kind::kRendezvous;
  const bool names_ranks = command.ranks.kind != RankSelector::Kind::kFocus;
  bool same_on_ranks = true;
  if (command.condition) {
    const auto type = check_condition(*command.condition, code);
    same_on_ranks = type && type->by_place;
  }
  return at_instruction && !names_ranks && same_on_ranks ? Breakpoint::Stops::kFirstRank
                                                         : Breakpoint::Stops::kEachRank;
}

tl::unexpected<Error> no_such(int64_t number) {
  return fail(ErrorKind::kUsage, "breakpoint", fmt::format("there is no breakpoint {}", number));
}

}  // namespace

LiveBreakpoints::LiveBreakpoints(const Interpreter& interpreter, const ProgramView& view)
    : interpreter_(interpreter), view_(view) {}

void LiveBreakpoints::set_condition(Breakpoint& breakpoint, const Command& command) const {
  Accepts accepts;
  if (command.place && command.place->kind == Place::Kind::kRendezvous) accepts = at_rendezvous();
  if (command.kind == CommandKind::kWatch && !command.slice.empty())
    accepts = holds_slice(command.place->name, command.slice);
  if (command.condition) accepts = both(std::move(accepts), condition_holds(*command.condition));
  breakpoint.accepts = std::move(accepts);
  breakpoint.stops = stops_of(command, interpreter_.code());
  count_visits(breakpoint);
}

Expected<Breakpoint> LiveBreakpoints::make(const Command& command, Rank focus) const {
  const Code& code = interpreter_.code();
  const Place& place = *command.place;
  Breakpoint out;
  out.temporary = command.kind == CommandKind::kTbreak;
  const std::string function =
      code.functions[code.instructions[interpreter_.rank(focus).code].function]->name;
  switch (place.kind) {
    case Place::Kind::kWrite:
      out.kind = Breakpoint::Kind::kWritten;
      out.tensor = place.name;
      break;
    case Place::Kind::kNan:
      out.kind = Breakpoint::Kind::kNan;
      out.tensor = place.name;
      break;
    case Place::Kind::kRendezvous:
    case Place::Kind::kCollective:
      out.kind = Breakpoint::Kind::kCollective;
      out.comm = place.name;
      break;
    case Place::Kind::kFault:
    case Place::Kind::kEnd:
      return fail(ErrorKind::kUsage, "breakpoint",
                  "no breakpoint is needed: every run stops at a fault and at the end");
    default: {
      HOSTIR_ASSIGN_OR_RETURN(out.codes, find_places(place, view_, function));
      break;
    }
  }
  const bool named_tensor =
      place.kind == Place::Kind::kWrite || (place.kind == Place::Kind::kNan && !place.name.empty());
  if (named_tensor && find_registers(code, place.name).empty()) {
    return fail(ErrorKind::kUsage, "no_place",
                fmt::format("@{} has no value %{}", code.entry, place.name));
  }
  if (command.kind == CommandKind::kWatch) HOSTIR_TRY(check_slice(code, place.name, command.slice));
  if (command.condition) HOSTIR_TRY(check_condition(*command.condition, code));
  if (command.ranks.kind != RankSelector::Kind::kFocus) {
    HOSTIR_ASSIGN_OR_RETURN(out.ranks,
                            select_ranks(command.ranks, code.world, code.rank_count, focus));
  }
  if (command.kind == CommandKind::kDprintf) {
    HOSTIR_ASSIGN_OR_RETURN(LogText text, parse_log_text(command.text));
    HOSTIR_TRY(check_names(text, code));
    out.log = [text = std::move(text)](const Interpreter& i, Rank rank, CodeIndex at) {
      return fill(text, rank_lookup(i, rank, at));
    };
  }
  set_condition(out, command);
  return out;
}

Expected<uint32_t> LiveBreakpoints::add(const Command& command, Rank focus) {
  HOSTIR_ASSIGN_OR_RETURN(Breakpoint breakpoint, make(command, focus));
  const uint32_t number = list_.add(std::move(breakpoint));
  entries_.push_back({number, command});
  return number;
}

Breakpoint* LiveBreakpoints::find(uint32_t number) {
  for (Breakpoint& b : list_.all()) {
    if (b.id == number) return &b;
  }
  return nullptr;
}

const Command* LiveBreakpoints::command(uint32_t number) const {
  for (const Entry& e : entries_) {
    if (e.number == number) return &e.command;
  }
  return nullptr;
}

bool LiveBreakpoints::remove(uint32_t number) {
  std::erase_if(entries_, [&](const Entry& e) { return e.number == number; });
  return list_.remove(number);
}

void LiveBreakpoints::adopt(const LiveBreakpoints& other) {
  list_ = other.list_;
  entries_ = other.entries_;
}

Expected<void> LiveBreakpoints::change_one(const Command& command, int64_t number) {
  Breakpoint* breakpoint = find(static_cast<uint32_t>(number));
  if (!breakpoint) return no_such(number);
  switch (command.kind) {
    case CommandKind::kDelete:
      remove(breakpoint->id);
      return {};
    case CommandKind::kEnable:
      breakpoint->enabled = true;
      return {};
    case CommandKind::kDisable:
      breakpoint->enabled = false;
      return {};
    case CommandKind::kIgnore:
      breakpoint->ignore = stops_so_far(*breakpoint) + static_cast<uint64_t>(command.numbers[1]);
      return {};
    default:
      break;
  }
  if (command.condition) HOSTIR_TRY(check_condition(*command.condition, interpreter_.code()));
  for (Entry& e : entries_) {
    if (e.number != breakpoint->id) continue;
    e.command.condition = command.condition;
    set_condition(*breakpoint, e.command);
  }
  return {};
}

Expected<void> LiveBreakpoints::change(const Command& command) {
  std::vector<int64_t> numbers = command.numbers;
  const bool one = command.kind == CommandKind::kIgnore || command.kind == CommandKind::kCondition;
  if (one) numbers.resize(1);
  if (numbers.empty()) {
    for (const Breakpoint& b : list_.all()) numbers.push_back(b.id);
  }
  for (const int64_t n : numbers) HOSTIR_TRY(change_one(command, n));
  return {};
}

std::vector<BreakpointSnapshot> LiveBreakpoints::snapshot() const {
  std::vector<BreakpointSnapshot> out;
  for (const Breakpoint& b : list_.all()) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.number == b.id; });
    if (entry == entries_.end()) continue;  // belongs to a single command
    BreakpointSnapshot s;
    s.number = b.id;
    s.text = to_string(entry->command);
    s.enabled = b.enabled;
    s.temporary = b.temporary;
    s.hits = static_cast<int64_t>(b.hits);
    const uint64_t passed = stops_so_far(b);
    s.logs = static_cast<bool>(b.log);
    s.ignore = b.ignore > passed ? static_cast<int64_t>(b.ignore - passed) : 0;
    s.places = b.codes;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace hostir::interp
