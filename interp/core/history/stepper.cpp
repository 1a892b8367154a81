#include "interp/core/history/stepper.h"

#include <algorithm>

#include "hostir/support/lists.h"
#include "interp/core/code/nesting.h"
#include "interp/core/engine/engine.h"
#include "interp/core/history/breakpoint_matcher.h"
#include "interp/model/verdict.h"

namespace hostir::interp {

namespace {

constexpr uint64_t kInterruptEvery = 4096;

StopReport report(StopReport::Reason reason, Rank rank = kNoRank, CodeIndex code = 0) {
  StopReport r;
  r.reason = reason;
  r.rank = rank;
  r.code = code;
  return r;
}

bool is_communication(const Code& code, CodeIndex index) {
  return communication_facts(code.instructions[index].kind) != nullptr;
}

}  // namespace

Stepper::Stepper(History& history, BreakpointList& breakpoints)
    : history_(history), breakpoints_(breakpoints) {}

void Stepper::set_interrupt(std::function<bool()> interrupt) { interrupt_ = std::move(interrupt); }

Expected<StopReport> Stepper::run(const StepCommand& command) {
  Interpreter& in = interpreter();
  const Rank count = in.code().rank_count;
  focus_ = command.focus;
  if (focus_.empty()) {
    for (Rank r = 0; r < count; ++r) focus_.push_back(r);
  }
  for (const Rank r : focus_) {
    if (r < 0 || r >= count) return fail(ErrorKind::kUsage, "step_rank", "no such rank");
  }
  BreakpointMatcher matcher(in, breakpoints_);
  if (matcher.wants_statistics()) in.backend().set_value_mode(Backend::ValueMode::kStats);
  before_.clear();
  for (const RankState& r : in.state().ranks) before_.push_back(r.steps);
  command_ = &command;
  matcher_ = &matcher;
  moved();
  taken_ = 0;
  in.engine().watcher = &matcher;
  Expected<StopReport> stop = command.direction == Direction::kForward ? forward() : backward();
  in.engine().watcher = nullptr;
  matcher_ = nullptr;
  if (command.direction == Direction::kForward) {
    breakpoints_.executed_to(history_);
  } else {
    moved();
  }
  if (!stop) return stop;
  for (Rank r = 0; r < count; ++r) {
    const auto steps = static_cast<int64_t>(in.state().ranks[static_cast<size_t>(r)].steps -
                                            before_[static_cast<size_t>(r)]);
    if (steps != 0) stop->moved.push_back({r, steps});
  }
  return stop;
}

void Stepper::moved() { breakpoints_.moved_to(history_); }

bool Stepper::is_over(Rank rank) const { return !interpreter().next_code(rank).has_value(); }

bool Stepper::over_limit() {
  if (taken_ >= command_->max_decisions) return true;
  ++taken_;
  return taken_ % kInterruptEvery == 0 && interrupt_ && interrupt_();
}

// One decision of one rank, including the stops before and after it.
Expected<Stepper::Stop> Stepper::take(Rank rank) {
  Interpreter& in = interpreter();
  const RankState& state = in.state().ranks[static_cast<size_t>(rank)];
  const CodeIndex code = state.pc;
  if (!matcher_->idle()) {
    const Breakpoint* stopping = nullptr;
    // A step moves a rank off the instruction it visibly stopped at. That still counts as a hit. A
    // continue stops at each hit that has not been reported.
    const bool stood_here = command_->kind != StepCommand::Kind::kContinue &&
                            state.steps == before_[static_cast<size_t>(rank)];
    for (Breakpoint* b : matcher_->before(rank)) {
      if (is_at_last_hit(*b, rank, state.steps, history_.travels())) continue;
      if (b->log) {
        write_line(breakpoints_, *b, in, code, hit_place(rank));
      } else if (count_hit(*b, hit_place(rank)) && !stood_here) {
        stopping = b;
      }
    }
    if (stopping != nullptr) return Stop(stopped_by(*stopping, rank, code));
  }
  if (over_limit()) return Stop(report(StopReport::Reason::kLimit, rank, code));
  const size_t faults = in.faults().size();
  HOSTIR_TRY(history_.step(rank));
  Stop stop;
  if (in.faults().size() != faults) stop = report(StopReport::Reason::kFault, rank, code);
  for (const BreakpointMatcher::Written& w : matcher_->after()) {
    if (w.breakpoint->log) {
      write_line(breakpoints_, *w.breakpoint, in, w.code, hit_place(w.rank));
    } else if (!stop && count_hit(*w.breakpoint, hit_place(w.rank))) {
      stop = stopped_by(*w.breakpoint, w.rank, w.code);
    }
  }
  return stop;
}

HitPlace Stepper::hit_place(Rank rank) const {
  HitPlace at;
  at.rank = rank;
  at.steps = interpreter().state().ranks[static_cast<size_t>(rank)].steps;
  at.travel = history_.travels();
  at.position = history_.position();
  at.visit = next_visit(interpreter(), rank);
  at.own = stops_at_own_visits(rank);
  return at;
}

bool Stepper::stops_at_own_visits(Rank rank) const {
  const std::vector<Rank>& own = command_->own_visits;
  return contains(own, rank);
}

StopReport Stepper::stopped_by(const Breakpoint& breakpoint, Rank rank, CodeIndex code) const {
  StopReport r = report(StopReport::Reason::kBreakpoint, rank, code);
  r.breakpoint = breakpoint.id;
  if (!stops_first_rank(breakpoint)) return r;
  const Visit visit = next_visit(interpreter(), rank);
  const ProgramPoint here = point_of(interpreter(), visit);
  StopReport::Visitors visitors;
  const auto first = breakpoint.visits.find(visit);
  visitors.came_first = first == breakpoint.visits.end() || first->second.rank == rank;
  for (const ProgramPoint& point : points_of_ranks(interpreter())) {
    ++visitors.ranks;
    visitors.past += is_past(point, here) ? 1 : 0;
  }
  r.visitors = visitors;
  return r;
}

// The moving rank with the smallest clock.
Rank Stepper::pick(const Drive& drive) const {
  const Interpreter& in = interpreter();
  Rank best = kNoRank;
  int64_t clock = 0;
  for (size_t i = 0; i < drive.ranks.size(); ++i) {
    const Rank r = drive.ranks[i];
    if (drive.reached[i] || !in.can_step(r)) continue;
    const int64_t at = in.state().ranks[static_cast<size_t>(r)].clock_ns;
    if (best == kNoRank || at < clock) {
      best = r;
      clock = at;
    }
  }
  return best;
}

// The next rank to run for the sake of the moving ranks: one that they wait for, directly or
// through others; otherwise the scheduler's choice, because virtual time may have to pass. Ranks at
// their goals stay there.
Rank Stepper::needed(const Drive& drive) const {
  const Interpreter& in = interpreter();
  const auto held = [&](Rank r) {
    const auto at = std::find(drive.ranks.begin(), drive.ranks.end(), r);
    return at != drive.ranks.end() &&
           drive.reached[static_cast<size_t>(at - drive.ranks.begin())] != 0;
  };
  const model::WaitGraph graph = diagnose::wait_graph(in.run_model());
  std::vector<uint32_t> queue;
  for (size_t i = 0; i < drive.ranks.size(); ++i) {
    if (!drive.reached[i]) queue.push_back(static_cast<uint32_t>(drive.ranks[i]));
  }
  std::vector<bool> seen(graph.nodes.size(), false);
  for (size_t i = 0; i < queue.size(); ++i) {
    const model::WaitNode& node = graph.nodes[queue[i]];
    if (!node.queue && in.can_step(node.rank) && !held(node.rank)) return node.rank;
    for (const model::WaitEdge& e : graph.edges) {
      if (e.from != queue[i] || seen[e.to]) continue;
      seen[e.to] = true;
      queue.push_back(e.to);
    }
  }
  Rank best = kNoRank;
  for (Rank r = 0; r < in.code().rank_count; ++r) {
    if (!in.can_step(r) || held(r)) continue;
    const auto clock = [&](Rank x) { return in.state().ranks[static_cast<size_t>(x)].clock_ns; };
    if (best == kNoRank || clock(r) < clock(best)) best = r;
  }
  return best;
}

// The next rank of the recorded run, after applying the recorded freezes and edits before it. A
// corrupted log may name a rank that cannot move: from there on the scheduler chooses.
Expected<Rank> Stepper::recorded_rank() {
  while (const std::optional<Decision> next = history_.recorded_next()) {
    if (next->kind == DecisionRecord::Kind::kRun)
      return interpreter().can_step(next->rank) ? next->rank : kNoRank;
    HOSTIR_TRY(history_.go_to(history_.position() + 1));
  }
  return kNoRank;
}

Expected<StopReport> Stepper::drive(Drive& drive) {
  Interpreter& in = interpreter();
  while (true) {
    bool waiting = false;
    for (size_t i = 0; i < drive.ranks.size(); ++i) {
      waiting = waiting || (!drive.reached[i] && !is_over(drive.ranks[i]));
    }
    if (!waiting) {
      const bool done = in.finished();
      return report(done ? StopReport::Reason::kFinished : StopReport::Reason::kStepped);
    }
    HOSTIR_ASSIGN_OR_RETURN(Rank rank, recorded_rank());
    if (rank == kNoRank) rank = pick(drive);
    if (rank == kNoRank) {
      if (command_->drag == StepCommand::Drag::kStrict) {
        return report(StopReport::Reason::kBlocked, drive.ranks.front());
      }
      rank = needed(drive);
      if (rank == kNoRank) {
        return report(in.state().failed ? StopReport::Reason::kFault : StopReport::Reason::kStuck);
      }
    }
    HOSTIR_ASSIGN_OR_RETURN(const Stop stop, take(rank));
    if (stop) return *stop;
    for (size_t i = 0; i < drive.ranks.size(); ++i) {
      if (drive.ranks[i] != rank || drive.reached[i]) continue;
      drive.reached[i] = is_over(rank) || drive.goal(rank);
      if (drive.reached[i] && drive.first_ends) {
        return report(StopReport::Reason::kStepped, rank,
                      in.next_code(rank).value_or(in.rank(rank).code));
      }
    }
  }
}

Expected<StopReport> Stepper::forward() {
  Interpreter& in = interpreter();
  const Code& code = in.code();
  using Kind = StepCommand::Kind;
  if (in.state().failed) return report(StopReport::Reason::kFault);
  if (in.finished()) return report(StopReport::Reason::kFinished);
  if (command_->kind == Kind::kRendezvous) return rendezvous();
  if (command_->kind == Kind::kContinue) return proceed();

  Drive d;
  d.ranks = focus_;
  d.reached.assign(focus_.size(), 0);
  const bool some =
      std::any_of(focus_.begin(), focus_.end(), [&](Rank r) { return in.can_step(r); });
  std::vector<uint32_t> depth(static_cast<size_t>(code.rank_count), 0);
  std::vector<CodeIndex> frame(static_cast<size_t>(code.rank_count), kNoCode);
  for (size_t i = 0; i < focus_.size(); ++i) {
    const auto r = static_cast<size_t>(focus_[i]);
    const auto at = in.next_code(focus_[i]);
    // A step of several ranks moves those that can move; it does not wait for the others.
    d.reached[i] = !at || (some && focus_.size() > 1 && !in.can_step(focus_[i]));
    if (!at) continue;
    depth[r] = nesting(code, *at);
    frame[r] = enclosing_frame(code, *at);
  }
  switch (command_->kind) {
    case Kind::kInto:
      d.goal = [](Rank) { return true; };
      break;
    case Kind::kOver:
      d.goal = [&](Rank r) {
        return nesting(code, *in.next_code(r)) <= depth[static_cast<size_t>(r)];
      };
      break;
    case Kind::kOut:
      d.goal = [&](Rank r) {
        const CodeIndex around = frame[static_cast<size_t>(r)];
        if (around == kNoCode) return false;
        const CodeIndex at = *in.next_code(r);
        return at <= around || at >= code.instructions[around].end;
      };
      break;
    case Kind::kNextCollective:
      d.goal = [&](Rank r) { return is_communication(code, *in.next_code(r)); };
      break;
    case Kind::kToInstruction:
      d.first_ends = true;
      d.goal = [&](Rank r) {
        const auto& target = command_->target;
        return contains(target, *in.next_code(r));
      };
      break;
    case Kind::kRendezvous:
    case Kind::kContinue:
      break;
  }
  return drive(d);
}

// Runs to the next stop. Decisions ahead on the line are repeated as they were.
Expected<StopReport> Stepper::proceed() {
  Interpreter& in = interpreter();
  if (!command_->focus.empty()) {
    Drive d;
    d.ranks = focus_;
    d.reached.assign(focus_.size(), 0);
    d.goal = [](Rank) { return false; };
    return drive(d);
  }
  while (true) {
    Rank rank = kNoRank;
    if (history_.position() < history_.size()) {
      const Decision& next = history_.line()[history_.position()];
      if (next.kind != DecisionRecord::Kind::kRun) {
        HOSTIR_TRY(history_.go_to(history_.position() + 1));
        continue;
      }
      if (in.can_step(next.rank)) rank = next.rank;
    }
    if (rank == kNoRank) {
      rank = in.next_rank().value_or(kNoRank);
    }
    if (rank == kNoRank) {
      if (in.state().failed) return report(StopReport::Reason::kFault);
      return report(in.finished() ? StopReport::Reason::kFinished : StopReport::Reason::kStuck);
    }
    HOSTIR_ASSIGN_OR_RETURN(const Stop stop, take(rank));
    if (stop) return *stop;
  }
}

// 1. The focus runs to its next collective.
// 2. The other members run to the collective with the same sequence number; all stop before it.
// 3. Called again from there: all members take it, and the run continues until it has finished.
Expected<StopReport> Stepper::rendezvous() {
  Interpreter& in = interpreter();
  const Code& code = in.code();
  const Rank leader = focus_.front();
  Drive d;
  d.goal = [&](Rank r) { return is_communication(code, *in.next_code(r)); };
  if (is_over(leader) || !is_communication(code, *in.next_code(leader))) {
    d.ranks = {leader};
    d.reached = {0};
    HOSTIR_ASSIGN_OR_RETURN(const StopReport there, drive(d));
    if (there.reason != StopReport::Reason::kStepped || is_over(leader)) return there;
  }
  const CodeInstruction& at = code.instructions[*in.next_code(leader)];
  const Communicator& comm = code.communicators[at.comm];
  const int32_t group = comm.group_of_rank[static_cast<size_t>(leader)];
  if (communication_facts(at.kind)->point_to_point || group < 0) {
    d.ranks = {leader};
    d.reached = {0};
    d.goal = [](Rank) { return true; };
    return drive(d);
  }
  const auto next_of = [&](Rank r) {
    return in.state().ledger.next_sequence[at.comm * static_cast<size_t>(code.rank_count) +
                                           static_cast<size_t>(r)];
  };
  const uint64_t sequence = next_of(leader);
  const auto there = [&](Rank r) {
    if (next_of(r) > sequence) return true;
    const auto index = in.next_code(r);
    return index && is_communication(code, *index) && code.instructions[*index].comm == at.comm &&
           next_of(r) == sequence;
  };
  d.ranks = comm.groups[static_cast<size_t>(group)];
  d.reached.clear();
  for (const Rank r : d.ranks) d.reached.push_back(there(r));
  const bool all = std::all_of(d.reached.begin(), d.reached.end(), [](char c) { return c != 0; });
  if (!all) {
    d.goal = there;
    return drive(d);
  }
  // All members are before it: run through it.
  const auto finished = [&](Rank) {
    const GroupLedger& ledger =
        in.state()
            .ledger.groups[in.state().ledger.first_group[at.comm] + static_cast<uint32_t>(group)];
    if (sequence >= ledger.end()) return false;
    return !ledger.has(sequence) || ledger.head(sequence).finished == ledger.members();
  };
  for (size_t i = 0; i < d.ranks.size(); ++i) d.reached[i] = next_of(d.ranks[i]) > sequence;
  d.goal = [&](Rank r) { return next_of(r) > sequence; };
  HOSTIR_ASSIGN_OR_RETURN(const StopReport taken, drive(d));
  if (taken.reason != StopReport::Reason::kStepped || finished(leader)) return taken;
  d.reached.assign(d.ranks.size(), 0);
  d.first_ends = true;
  d.goal = finished;
  return drive(d);
}

}  // namespace hostir::interp
