// Stepping backwards: positions are searched for, not computed.
//
// What is looked for is a decision before the position with some property of the state in which it
// was taken. The search executes again, silently, from the nearest checkpoint, remembers the last
// match, and goes on from the checkpoint before if there was none.

#include <algorithm>

#include "interp/core/breakpoint_matcher.h"
#include "interp/core/engine.h"
#include "interp/core/nesting.h"
#include "interp/core/stepper.h"

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
  const auto in_focus = [&](Rank r) {
    return std::find(focus_.begin(), focus_.end(), r) != focus_.end();
  };
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
      // Before the first member of a meeting of the focus came to it.
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
        return runs(d) && in_focus(d.rank) &&
               std::find(target.begin(), target.end(), pc_of(d.rank)) != target.end();
      });
    case Kind::kContinue:
      return back_to_stop();
  }
  return beginning();
}

// Back over the last decision of each focus rank, as far as these stand together: the reverse of
// one step of them all.
Expected<StopReport> Stepper::back_into() {
  std::vector<Rank> seen;
  uint64_t target = history_.position();
  for (uint64_t k = history_.position(); k-- > 0 && seen.size() < focus_.size();) {
    const Decision& d = history_.line()[k];
    if (!runs(d) || std::find(focus_.begin(), focus_.end(), d.rank) == focus_.end()) continue;
    if (std::find(seen.begin(), seen.end(), d.rank) != seen.end()) break;
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

// The last breakpoint hit before the position. Hits that are passed are taken back.
Expected<StopReport> Stepper::back_to_stop() {
  struct Hit {
    uint64_t position = 0;
    Breakpoint* breakpoint = nullptr;
    Rank rank = kNoRank;
    CodeIndex code = 0;
  };
  Interpreter& in = interpreter();
  const auto steps_of = [&](Rank r) { return in.state().ranks[static_cast<size_t>(r)].steps; };
  for (Breakpoint& b : breakpoints_.all()) {
    // The hit that we stand at lies ahead from here on.
    if (b.hits > 0 && b.hit_rank != kNoRank &&
        stands_at(b, b.hit_rank, steps_of(b.hit_rank), history_.travels())) {
      --b.hits;
    }
  }
  const uint64_t start = history_.position();
  uint64_t end = start;
  while (end > 0) {
    const uint64_t begin = history_.checkpoint_before(end - 1);
    HOSTIR_TRY(history_.go_to(begin));
    matcher_->clear();
    std::vector<Hit> hits;
    for (uint64_t k = begin; k < end; ++k) {
      const Decision& d = history_.line()[k];
      if (runs(d)) {
        for (Breakpoint* b : matcher_->before(d.rank)) {
          hits.push_back({k, b, d.rank, in.rank(d.rank).code});
        }
      }
      if (k + 1 == start) break;
      HOSTIR_TRY(history_.go_to(k + 1));
      for (const BreakpointMatcher::Written& w : matcher_->after()) {
        hits.push_back({k + 1, w.breakpoint, w.rank, w.code});
      }
    }
    for (auto hit = hits.rbegin(); hit != hits.rend(); ++hit) {
      Breakpoint& b = *hit->breakpoint;
      if (b.hits <= b.ignore && b.ignore > 0) {
        if (b.hits > 0) --b.hits;
        continue;
      }
      HOSTIR_TRY(history_.go_to(hit->position));
      b.hits = std::max<uint64_t>(b.hits, 1);
      forget_hits_behind(hit->position);
      if (b.hit_places.empty() || b.hit_places.back().position != hit->position) {
        b.hit_places.push_back({hit->position, hit->rank});
      }
      b.hit_rank = hit->rank;
      b.hit_steps = steps_of(hit->rank);
      b.hit_travel = history_.travels();
      if (b.temporary) b.enabled = false;
      StopReport r;
      r.reason = StopReport::Reason::kBreakpoint;
      r.breakpoint = b.id;
      r.rank = hit->rank;
      r.code = hit->code;
      return r;
    }
    end = begin;
  }
  HOSTIR_TRY(history_.go_to(0));
  forget_hits_behind(0);
  return beginning();
}

// The counts are right already: the search has taken back what it passed.
void Stepper::forget_hits_behind(uint64_t position) {
  for (Breakpoint& b : breakpoints_.all()) {
    std::erase_if(b.hit_places,
                  [&](const Breakpoint::Hit& hit) { return hit.position > position; });
  }
}

}  // namespace hostir::interp
