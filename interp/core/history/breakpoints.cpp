#include "interp/core/history/breakpoints.h"

#include <algorithm>

#include "hostir/ir/access.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/communication_facts.h"
#include "interp/core/history/breakpoint_matcher.h"
#include "interp/core/history/history.h"
#include "interp/core/state.h"

namespace hostir::interp {

uint32_t BreakpointList::add(Breakpoint breakpoint) {
  breakpoint.id = next_id_++;
  breakpoints_.push_back(std::move(breakpoint));
  return breakpoints_.back().id;
}

bool BreakpointList::remove(uint32_t id) {
  return std::erase_if(breakpoints_, [&](const Breakpoint& b) { return b.id == id; }) > 0;
}

bool sees_results(const Breakpoint& b) {
  return b.kind == Breakpoint::Kind::kWritten || b.kind == Breakpoint::Kind::kNan;
}

namespace {

bool is_before(const Breakpoint::Hit& a, const Breakpoint::Hit& b) {
  return a.position < b.position;
}

// The first hit after `position`.
auto first_behind(std::vector<Breakpoint::Hit>& hits, uint64_t position) {
  return std::upper_bound(
      hits.begin(), hits.end(), position,
      [](uint64_t at, const Breakpoint::Hit& hit) { return at < hit.position; });
}

// The position at which a rank that was before an instruction at `position` executes it: other
// ranks may have moved first.
uint64_t taken_at(const std::vector<Decision>& line, uint64_t position, Rank rank) {
  const auto takes = [&](const Decision& d) {
    return d.kind == DecisionRecord::Kind::kRun && d.rank == rank;
  };
  while (position < line.size() && !takes(line[position])) ++position;
  return position;
}

// Moves hits after the position to `hits_ahead`, and hits up to the position back from there.
// Returns both numbers.
std::pair<uint64_t, uint64_t> move_hits(Breakpoint& b, const History& history) {
  std::vector<Breakpoint::Hit>& ahead = b.hits_ahead;
  const auto undone = first_behind(b.hit_places, history.position());
  const auto count = b.hit_places.end() - undone;
  ahead.insert(ahead.begin(), undone, b.hit_places.end());
  b.hit_places.erase(undone, b.hit_places.end());
  if (!sees_results(b)) {
    for (auto hit = ahead.begin(); hit != ahead.begin() + count; ++hit)
      hit->position = taken_at(history.line(), hit->position, hit->rank);
    if (!std::is_sorted(ahead.begin(), ahead.end(), is_before))
      std::stable_sort(ahead.begin(), ahead.end(), is_before);
  }
  const auto again = first_behind(ahead, history.position());
  const auto count_again = again - ahead.begin();
  b.hit_places.insert(b.hit_places.end(), ahead.begin(), again);
  ahead.erase(ahead.begin(), again);
  return {static_cast<uint64_t>(count), static_cast<uint64_t>(count_again)};
}

// The rank's newest hit; for breakpoints on instructions.
const Breakpoint::Hit* newest_hit(const Breakpoint& b, Rank rank) {
  const auto r = static_cast<size_t>(rank);
  return r < b.newest.size() && b.newest[r] > 0 ? &b.hit_places[b.newest[r] - 1] : nullptr;
}

void note_newest(Breakpoint& b, size_t place) {
  const auto rank = static_cast<size_t>(b.hit_places[place].rank);
  if (rank >= b.newest.size()) b.newest.resize(rank + 1, 0);
  b.newest[rank] = place + 1;
}

void remember(Breakpoint& b, const Breakpoint::Hit& hit) {
  b.hit_places.push_back(hit);
  b.hits = b.hit_places.size();
  if (!sees_results(b)) note_newest(b, b.hit_places.size() - 1);
}

Breakpoint::Hit hit_at(const HitPlace& at) { return {at.position, at.steps, at.rank, at.visit}; }

// True if a hit or line ahead has been passed again. A result becomes visible at the position
// itself. A hit on the instruction a rank is now before is passed only if it was counted.
template <class Hit>
bool is_passed(const Breakpoint& b, const Hit& hit, uint64_t position) {
  if (hit.position < position) return true;
  if (sees_results(b)) return hit.position == position;
  const Breakpoint::Hit* newest = newest_hit(b, hit.rank);
  return newest != nullptr && newest->steps >= hit.steps;
}

}  // namespace

void count_visits(Breakpoint& breakpoint) {
  breakpoint.visits.clear();
  breakpoint.newest.clear();
  if (sees_results(breakpoint)) return;
  for (size_t i = 0; i < breakpoint.hit_places.size(); ++i) note_newest(breakpoint, i);
  if (!stops_first_rank(breakpoint)) return;
  for (const Breakpoint::Hit& hit : breakpoint.hit_places)
    breakpoint.visits.try_emplace(hit.visit, hit);
}

void BreakpointList::moved_to(const History& history) {
  const uint64_t position = history.position();
  const uint32_t branch = history.branch();
  // Nothing to undo. A rank that has not been tested here is tested at its next step.
  if (position == position_ && branch == branch_) return;
  uint64_t lines_again = 0;
  for (Breakpoint& b : breakpoints_) {
    if (branch != branch_) b.hits_ahead.clear();
    const auto [undone, again] = move_hits(b, history);
    if (undone + again > 0) count_visits(b);
    b.hits = b.hit_places.size();
    // Hits skipped by `ignore` wrote no line.
    if (b.log && b.hits > b.ignore) lines_again += std::min(again, b.hits - b.ignore);
  }
  if (branch != branch_) log_.forget_ahead([](const LogLine&) { return true; });
  log_.moved_to(position, lines_again, [&](const LogLine& line) {
    const Breakpoint* b = find(line.breakpoint);
    return b == nullptr || sees_results(*b) ? line.position
                                            : taken_at(history.line(), line.position, line.rank);
  });
  position_ = position;
  branch_ = branch;
}

void BreakpointList::executed_to(const History& history) {
  const uint64_t position = history.position();
  const bool branched = history.branch() != branch_;
  for (Breakpoint& b : breakpoints_) {
    std::erase_if(b.hits_ahead, [&](const Breakpoint::Hit& hit) {
      return branched || is_passed(b, hit, position);
    });
  }
  log_.forget_ahead([&](const LogLine& line) {
    const Breakpoint* b = find(line.breakpoint);
    return branched || (b == nullptr ? line.position < position : is_passed(*b, line, position));
  });
  position_ = position;
  branch_ = history.branch();
}

const Breakpoint* BreakpointList::find(uint32_t id) const {
  const auto found = std::find_if(breakpoints_.begin(), breakpoints_.end(),
                                  [&](const Breakpoint& b) { return b.id == id; });
  return found == breakpoints_.end() ? nullptr : &*found;
}

bool stops_first_rank(const Breakpoint& b) {
  return b.stops == Breakpoint::Stops::kFirstRank && !sees_results(b) && !b.log;
}

namespace {
// The first hit at or after `position`.
auto first_at(const Breakpoint& b, uint64_t position) {
  return std::lower_bound(
      b.hit_places.begin(), b.hit_places.end(), position,
      [](const Breakpoint::Hit& hit, uint64_t at) { return hit.position < at; });
}
}  // namespace

uint64_t stops_so_far(const Breakpoint& b) {
  return stops_first_rank(b) ? b.visits.size() : b.hits;
}

void note_stop(Breakpoint& b, const HitPlace& at) {
  b.hit_rank = at.rank;
  b.hit_steps = at.steps;
  b.hit_travel = at.travel;
}

bool was_counted(const Breakpoint& b, const HitPlace& at) {
  if (sees_results(b)) {
    return std::any_of(first_at(b, at.position), b.hit_places.cend(),
                       [&](const Breakpoint::Hit& hit) {
                         return hit.position == at.position && hit.rank == at.rank;
                       });
  }
  const Breakpoint::Hit* newest = newest_hit(b, at.rank);
  return newest != nullptr && newest->steps == at.steps;
}

bool count_hit(Breakpoint& b, const HitPlace& at) {
  // A result hits once, when a decision makes it visible. An instruction can be tested repeatedly
  // while a rank is before it.
  const bool counted = !sees_results(b) && was_counted(b, at);
  // The rank's stop here has been reported, and only other ranks have moved since.
  const bool told = counted && newest_hit(b, at.rank)->position < at.position;
  const Breakpoint::Hit hit = hit_at(at);
  bool stops = true;
  if (stops_first_rank(b)) {
    const Breakpoint::Hit& first = b.visits.try_emplace(at.visit, hit).first->second;
    stops = first.rank == at.rank || at.own;
  }
  if (!counted) remember(b, hit);
  note_stop(b, at);
  if (told || !stops || stops_so_far(b) <= b.ignore) return false;
  if (b.temporary) b.enabled = false;
  return true;
}

void write_line(BreakpointList& list, Breakpoint& b, const Interpreter& in, CodeIndex code,
                const HitPlace& at) {
  if (!sees_results(b) && was_counted(b, at)) return;
  note_stop(b, at);
  remember(b, hit_at(at));
  if (b.hits <= b.ignore) return;
  list.log().add({at.position, at.steps, b.id, at.rank, code, b.log(in, at.rank, code)});
}

bool is_at_last_hit(const Breakpoint& b, Rank rank, uint64_t steps, uint64_t travel) {
  return b.hits > 0 && b.hit_rank == rank && b.hit_steps == steps && b.hit_travel == travel;
}

namespace {

std::set<CodeIndex> writers_of(const Code& code, const std::string& tensor) {
  std::set<CodeIndex> out;
  const std::string name = "%" + tensor;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    const auto& operands = code.source(i).operands;
    for (size_t k = 0; k < c.operands.size() && k < operands.size(); ++k) {
      if (c.role == CodeRole::kInstruction && c.operands[k] != kNoRegister &&
          writes(operands[k].access) && code.register_name(c.operands[k]) == name) {
        // A group member completes with the group's task.
        out.insert(c.group == kNoCode ? i : c.group);
      }
    }
  }
  return out;
}

std::optional<int64_t> leaf_value(const Interpreter& in, Rank rank, const IndexExpr& leaf) {
  using Kind = IndexExpr::Kind;
  const Code& code = in.code();
  const RankState& state = in.state().ranks[static_cast<size_t>(rank)];
  if (leaf.kind() == Kind::kRank) return rank;
  if (leaf.kind() == Kind::kSize) return code.sizes.find(leaf.symbol());
  if (leaf.kind() == Kind::kCoord || leaf.kind() == Kind::kAxisSize) {
    const auto axis = code.world->axis_index(leaf.symbol());
    const auto position = code.world->position_of(rank);
    if (!axis || !position) return std::nullopt;
    return leaf.kind() == Kind::kCoord ? code.world->coord(*position, *axis)
                                       : code.world->axes[*axis].size;
  }
  const std::string name = "%" + leaf.symbol();
  for (auto frame = state.loops.rbegin(); frame != state.loops.rend(); ++frame) {
    const uint32_t reg = code.instructions[frame->loop].index_register;
    if (code.register_name(reg) == name) return frame->index;
  }
  for (const uint32_t reg : code.find_registers(leaf.symbol())) {
    if (const auto value = in.integer(rank, reg)) return value;
  }
  return std::nullopt;
}

}  // namespace

BreakpointMatcher::BreakpointMatcher(const Interpreter& interpreter, BreakpointList& list)
    : in_(interpreter), list_(list) {
  for (const Breakpoint& b : list_.all()) {
    std::set<CodeIndex>& writers = writers_.emplace_back();
    if (!b.enabled) continue;
    idle_ = false;
    const bool nan = b.kind == Breakpoint::Kind::kNan;
    if (b.kind == Breakpoint::Kind::kWritten || (nan && !b.tensor.empty()))
      writers = writers_of(in_.code(), b.tensor);
    wants_statistics_ = wants_statistics_ || b.kind == Breakpoint::Kind::kNan;
    listens_ = listens_ || b.kind == Breakpoint::Kind::kNan || !writers.empty();
  }
}

bool BreakpointMatcher::accepts(const Breakpoint& b, Rank rank, CodeIndex code) const {
  if (!b.ranks.empty() && !contains(b.ranks, rank)) {
    return false;
  }
  if (b.condition) {
    const auto value =
        b.condition->evaluate([&](const IndexExpr& leaf) { return leaf_value(in_, rank, leaf); });
    // If a name is undefined here, or on division by zero, the condition is false.
    if (!value || *value == 0) return false;
  }
  return !b.accepts || b.accepts(in_, rank, code);
}

bool BreakpointMatcher::matches_code(const Breakpoint& b, CodeIndex index) const {
  const CodeInstruction& c = in_.code().instructions[index];
  switch (b.kind) {
    case Breakpoint::Kind::kInstruction:
      return contains(b.codes, index);
    case Breakpoint::Kind::kOp:
      return record(c.kind).mnemonic == b.op;
    case Breakpoint::Kind::kCollective:
      return communication_facts(c.kind) != nullptr &&
             (b.comm.empty() || in_.code().communicators[c.comm].name == b.comm);
    case Breakpoint::Kind::kWritten:
    case Breakpoint::Kind::kNan:
      return false;
  }
  return false;
}

std::vector<Breakpoint*> BreakpointMatcher::before(Rank rank) const {
  std::vector<Breakpoint*> out;
  if (idle_) return out;
  const CodeIndex code = in_.state().ranks[static_cast<size_t>(rank)].pc;
  for (Breakpoint& b : list_.all()) {
    if (b.enabled && matches_code(b, code) && accepts(b, rank, code)) out.push_back(&b);
  }
  return out;
}

std::vector<BreakpointMatcher::Written> BreakpointMatcher::after() {
  std::vector<Written> out;
  for (const Written& heard : heard_) {
    if (heard.breakpoint->enabled && accepts(*heard.breakpoint, heard.rank, heard.code)) {
      out.push_back(heard);
    }
  }
  heard_.clear();
  return out;
}

void BreakpointMatcher::completed(const Completion& completion) {
  if (!listens_) return;
  const TaskRecord* task = in_.task(completion.id);
  if (!task) return;
  for (size_t i = 0; i < writers_.size() && i < list_.all().size(); ++i) {
    if (list_.all()[i].kind == Breakpoint::Kind::kNan) continue;  // see `value`
    if (writers_[i].count(task->code) > 0) {
      heard_.push_back({&list_.all()[i], task_rank(completion.id), task->code});
    }
  }
}

void BreakpointMatcher::value(const ValueSummary& summary) {
  if (!wants_statistics_ || !summary.has_stats) return;
  if (summary.nan_count == 0 && summary.inf_count == 0) return;
  const TaskRecord* task = in_.task(summary.task);
  const CodeIndex code = task ? task->code : 0;
  for (size_t i = 0; i < writers_.size() && i < list_.all().size(); ++i) {
    Breakpoint& b = list_.all()[i];
    if (!b.enabled || b.kind != Breakpoint::Kind::kNan) continue;
    if (b.tensor.empty() || writers_[i].count(code) > 0) heard_.push_back({&b, summary.rank, code});
  }
}

}  // namespace hostir::interp
