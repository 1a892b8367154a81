// Stepping backwards: searches for the position.
//
// The target is the last earlier decision taken in a state with some property. The search silently
// re-executes from the nearest checkpoint and remembers the last match. If there is none, it
// continues from the checkpoint before.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "hostir/support/lists.h"
#include "interp/core/code/nesting.h"
#include "interp/core/communication_facts.h"
#include "interp/core/history/breakpoint_matcher.h"
#include "interp/core/history/stepper.h"
#include "interp/core/state.h"

namespace hostir::interp {

namespace {

StopReport beginning() {
  StopReport r;
  r.reason = StopReport::Reason::kBeginning;
  return r;
}

bool runs(const Decision& d) { return d.kind == DecisionRecord::Kind::kRun; }

}  // namespace

Expected<StopReport> Stepper::backward() {
  Interpreter& in = interpreter();
  const Code& code = in.code();
  using Kind = StepCommand::Kind;
  if (history_.position() == 0) return beginning();
  const auto in_focus = [&](Rank r) { return contains(focus_, r); };
  const auto pc_of = [&](Rank r) { return in.state().ranks[static_cast<size_t>(r)].pc; };
  std::vector<uint32_t> depth;
  std::vector<CodeIndex> frame;
  for (Rank r = 0; r < code.rank_count; ++r) {
    depth.push_back(nesting(code, pc_of(r)));
    frame.push_back(enclosing_frame(code, pc_of(r)));
  }
  switch (command_->kind) {
    case Kind::kInto:
      return back_into();
    case Kind::kOver:
      if (focus_.size() > 1) return back_into();
      return back_to([&](const Decision& d) {
        return runs(d) && in_focus(d.rank) &&
               nesting(code, pc_of(d.rank)) <= depth[static_cast<size_t>(d.rank)];
      });
    case Kind::kOut:
      return back_to([&](const Decision& d) {
        return runs(d) && in_focus(d.rank) && pc_of(d.rank) == frame[static_cast<size_t>(d.rank)];
      });
    case Kind::kNextCollective:
      return back_to([&](const Decision& d) {
        return runs(d) && in_focus(d.rank) &&
               communication_facts(code.instructions[pc_of(d.rank)].kind) != nullptr;
      });
    case Kind::kRendezvous:
      // Back to before the first focus rank arrived at its last meeting.
      return back_to([&](const Decision& d) {
        if (!runs(d)) return false;
        const CodeInstruction& c = code.instructions[pc_of(d.rank)];
        const CommunicationFacts* facts = communication_facts(c.kind);
        if (facts == nullptr || facts->point_to_point) return false;
        const Communicator& comm = code.communicators[c.comm];
        const int32_t group = comm.group_of_rank[static_cast<size_t>(d.rank)];
        if (group < 0) return false;
        const auto& members = comm.groups[static_cast<size_t>(group)];
        const auto next_of = [&](Rank r) {
          return in.state().ledger.next_sequence[c.comm * static_cast<size_t>(code.rank_count) +
                                                 static_cast<size_t>(r)];
        };
        const uint64_t sequence = next_of(d.rank);
        return std::any_of(members.begin(), members.end(), in_focus) &&
               std::all_of(members.begin(), members.end(),
                           [&](Rank m) { return next_of(m) <= sequence; });
      });
    case Kind::kToInstruction:
      return back_to([&](const Decision& d) {
        const auto& target = command_->target;
        return runs(d) && in_focus(d.rank) && contains(target, pc_of(d.rank));
      });
    case Kind::kContinue:
      return back_to_stop();
  }
  return beginning();
}

// Goes back over the last decision of each focus rank, as long as these are adjacent: the reverse
// of one step of all of them.
Expected<StopReport> Stepper::back_into() {
  std::vector<Rank> seen;
  uint64_t target = history_.position();
  for (uint64_t k = history_.position(); k-- > 0 && seen.size() < focus_.size();) {
    const Decision& d = history_.line()[k];
    if (!runs(d) || !contains(focus_, d.rank)) continue;
    if (contains(seen, d.rank)) break;
    seen.push_back(d.rank);
    target = k;
  }
  if (seen.empty()) return beginning();
  HOSTIR_TRY(history_.go_to(target));
  StopReport r;
  r.reason = StopReport::Reason::kStepped;
  r.rank = seen.back();
  r.code = interpreter().rank(r.rank).code;
  return r;
}

Expected<StopReport> Stepper::back_to(const std::function<bool(const Decision&)>& wanted) {
  uint64_t end = history_.position();
  while (end > 0) {
    const uint64_t begin = history_.checkpoint_before(end - 1);
    HOSTIR_TRY(history_.go_to(begin));
    uint64_t found = end;
    for (uint64_t k = begin; k < end; ++k) {
      if (wanted(history_.line()[k])) found = k;
      if (k + 1 < end) HOSTIR_TRY(history_.go_to(k + 1));
    }
    if (found < end) {
      HOSTIR_TRY(history_.go_to(found));
      StopReport r;
      r.reason = StopReport::Reason::kStepped;
      r.rank = history_.line()[found].rank;
      r.code = interpreter().rank(r.rank).code;
      return r;
    }
    end = begin;
  }
  HOSTIR_TRY(history_.go_to(0));
  return beginning();
}

struct Stepper::Found {
  uint64_t position = 0;
  Breakpoint* breakpoint = nullptr;
  Rank rank = kNoRank;
  CodeIndex code = 0;
  Visit visit;
  uint64_t steps = 0;
};

// Breakpoint matches in the decisions `begin`..`end` of the line, by position, found by
// re-executing them. Excludes the position where the search started.
Expected<std::vector<Stepper::Found>> Stepper::hits_between(uint64_t begin, uint64_t end,
                                                            uint64_t start) {
  Interpreter& in = interpreter();
  HOSTIR_TRY(history_.go_to(begin));
  matcher_->clear();
  std::vector<Found> hits;
  const auto found = [&](uint64_t k, Breakpoint* b, Rank rank, CodeIndex code) {
    const uint64_t steps = in.state().ranks[static_cast<size_t>(rank)].steps;
    hits.push_back({k, b, rank, code, next_visit(in, rank), steps});
  };
  for (uint64_t k = begin; k < end; ++k) {
    const Decision& d = history_.line()[k];
    if (runs(d)) {
      for (Breakpoint* b : matcher_->before(d.rank)) {
        if (!b->log) found(k, b, d.rank, in.rank(d.rank).code);
      }
    }
    if (k + 1 == start) break;
    HOSTIR_TRY(history_.go_to(k + 1));
    for (const BreakpointMatcher::Written& w : matcher_->after()) {
      if (!w.breakpoint->log) found(k + 1, w.breakpoint, w.rank, w.code);
    }
  }
  return hits;
}

namespace {

// True if the stop at this place is among those that the breakpoint ignores.
bool is_ignored(const Breakpoint& b, const HitPlace& at) {
  if (b.ignore == 0) return false;
  uint64_t before = 0;
  bool known = false;
  if (stops_first_rank(b)) {
    for (const auto& [v, hit] : b.visits) before += hit.position <= at.position ? 1 : 0;
    known = b.visits.contains(at.visit);
  } else {
    for (const Breakpoint::Hit& hit : b.hit_places) {
      before += hit.position <= at.position ? 1 : 0;
      known = known || (hit.rank == at.rank &&
                        (sees_results(b) ? hit.position == at.position : hit.steps == at.steps));
    }
  }
  return before + (known ? 0 : 1) <= b.ignore;
}

}  // namespace

// Goes to the last stop before the position.
//
// 1. From the nearest checkpoint on, collect the breakpoint matches.
// 2. A hit that stops by itself is a stop. If a visit stops once, the earliest hit found is its
//    stop, provided no rank was past the visit at the checkpoint; otherwise there may be an earlier
//    hit.
// 3. If no such earlier hit could become the last stop, the last stop found is the result.
//    Otherwise continue from the checkpoint before.
Expected<StopReport> Stepper::back_to_stop() {
  const Interpreter& in = interpreter();
  const uint64_t start = history_.position();
  std::optional<Found> last;
  const auto is_stop = [&](const Found& f) {
    const bool later = !last || f.position > last->position;
    HitPlace at;
    at.rank = f.rank;
    at.steps = f.steps;
    at.position = f.position;
    at.visit = f.visit;
    if (later && !is_ignored(*f.breakpoint, at)) last = f;
  };
  std::map<std::pair<uint32_t, Visit>, Found> open;
  for (uint64_t end = start; end > 0;) {
    const uint64_t begin = history_.checkpoint_before(end - 1);
    HOSTIR_TRY(history_.go_to(begin));
    const std::vector<ProgramPoint> points = points_of_ranks(in);
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<Found> hits, hits_between(begin, end, start));
    for (auto hit = hits.rbegin(); hit != hits.rend(); ++hit) {
      const bool once = stops_first_rank(*hit->breakpoint);
      if (once) open.insert_or_assign({hit->breakpoint->id, hit->visit}, *hit);
      if (!once || stops_at_own_visits(hit->rank)) is_stop(*hit);
    }
    bool earlier_may_count = false;
    for (auto o = open.begin(); o != open.end();) {
      const ProgramPoint visit = point_of(in, o->second.visit);
      const bool is_first = std::none_of(points.begin(), points.end(),
                                         [&](const ProgramPoint& p) { return is_past(p, visit); });
      if (is_first) is_stop(o->second);
      earlier_may_count =
          earlier_may_count || (!is_first && (!last || o->second.position > last->position));
      o = is_first ? open.erase(o) : std::next(o);
    }
    if (last && !earlier_may_count) return stop_at(*last);
    end = begin;
  }
  HOSTIR_TRY(history_.go_to(0));
  return beginning();
}

Expected<StopReport> Stepper::stop_at(const Found& found) {
  HOSTIR_TRY(history_.go_to(found.position));
  moved();
  Breakpoint& b = *found.breakpoint;
  const HitPlace at = hit_place(found.rank);
  // A breakpoint that was set later has not counted this hit.
  if (!was_counted(b, at)) {
    b.hit_places.push_back({at.position, at.steps, at.rank, found.visit});
    ++b.hits;
    count_visits(b);
  }
  note_stop(b, at);
  if (b.temporary) b.enabled = false;
  return stopped_by(b, found.rank, found.code);
}

}  // namespace hostir::interp
