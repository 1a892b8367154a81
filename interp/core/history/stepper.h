// Stepping: the debugger's step commands, forwards and backwards, for one rank, a group, or all.
//
// Works on a History and a BreakpointList. The ranks in focus move. Other ranks move only when the
// focus is blocked and needs them (`Drag::kNeeded`), and are reported in `moved`. A frozen rank
// never moves. In a recorded run all ranks move in the recorded order until the user takes a
// different decision (freeze, edit): stepping one rank replays the recording up to that step. Every
// command ends at the first stop: target reached, breakpoint, fault, nothing can move, end of the
// run, start of the history (backwards).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "interp/core/history/breakpoints.h"
#include "interp/core/history/history.h"

namespace hostir::interp {

enum class Direction : uint8_t { kForward, kBackward };

struct StepCommand {
  enum class Kind : uint8_t {
    kInto,            // one instruction per focus rank
    kOver,            // one instruction; calls, loop regions and groups count as one
    kOut,             // to after the enclosing call or loop
    kNextCollective,  // to before the next communication instruction of a focus rank
    kRendezvous,      // until all members of the next collective of the focus have arrived
    kToInstruction,   // to before `target` on a focus rank
    kContinue,        // to the next stop
  } kind = Kind::kInto;
  Direction direction = Direction::kForward;
  std::vector<Rank> focus;  // empty: all ranks
  /// Ranks that a Stops::kFirstRank breakpoint stops at each of their visits. Empty: each visit
  /// stops once.
  std::vector<Rank> own_visits;
  std::vector<CodeIndex> target;
  enum class Drag : uint8_t { kNeeded, kStrict } drag = Drag::kNeeded;
  uint64_t max_decisions = UINT64_MAX;
};

struct StopReport {
  enum class Reason : uint8_t {
    kStepped,  // the command completed
    kBreakpoint,
    kFault,      // see Interpreter::faults()
    kBlocked,    // focus blocked, kStrict
    kStuck,      // nothing can move because of frozen ranks
    kFinished,   // all ranks returned and drained
    kBeginning,  // backwards at position 0
    kLimit,      // max_decisions reached, or interrupted
  } reason = Reason::kStepped;
  uint32_t breakpoint = 0;  // id
  Rank rank = kNoRank;      // the rank of the instruction, write or breakpoint
  CodeIndex code = 0;
  /// For a breakpoint that stops the first rank of a visit: how many started ranks are past the
  /// visit. Some of them may have branched around it.
  struct Visitors {
    Rank past = 0;
    Rank ranks = 0;
    bool came_first = true;  // false: the breakpoint has seen another rank there before
  };
  std::optional<Visitors> visitors;
  std::vector<RankMove> moved;
};

class BreakpointMatcher;
struct HitPlace;

class Stepper {
 public:
  Stepper(History& history, BreakpointList& breakpoints);
  Expected<StopReport> run(const StepCommand& command);
  /// Call after moving the history without the stepper: corrects the hit counts.
  void moved();
  /// Polled every few thousand decisions; returning true ends the command with kLimit.
  void set_interrupt(std::function<bool()> interrupt);

 private:
  using Stop = std::optional<StopReport>;
  /// True if a rank has reached its target; tested after each of its decisions.
  using Goal = std::function<bool(Rank)>;
  struct Drive {
    std::vector<Rank> ranks;
    std::vector<char> reached;  // parallel to `ranks`
    Goal goal;
    bool first_ends = false;  // the first rank that reaches its goal ends the command
  };

  // stepper.cpp: forward
  Expected<StopReport> forward();
  Expected<StopReport> drive(Drive& drive);
  Expected<StopReport> rendezvous();
  Expected<StopReport> proceed();
  Expected<Stop> take(Rank rank);
  Rank pick(const Drive& drive) const;
  Rank needed(const Drive& drive) const;
  Expected<Rank> recorded_rank();
  bool over_limit();
  bool is_over(Rank rank) const;
  HitPlace hit_place(Rank rank) const;
  bool stops_at_own_visits(Rank rank) const;
  StopReport stopped_by(const Breakpoint& breakpoint, Rank rank, CodeIndex code) const;

  // step_back.cpp
  Expected<StopReport> backward();
  Expected<StopReport> back_into();
  struct Found;  // a hit found by the search
  Expected<StopReport> back_to_stop();
  Expected<std::vector<Found>> hits_between(uint64_t begin, uint64_t end, uint64_t start);
  Expected<StopReport> stop_at(const Found& found);
  Expected<StopReport> back_to(const std::function<bool(const Decision&)>& wanted);

  Interpreter& interpreter() const { return history_.interpreter(); }

  History& history_;
  BreakpointList& breakpoints_;
  std::function<bool()> interrupt_;
  // State of the running command.
  const StepCommand* command_ = nullptr;
  BreakpointMatcher* matcher_ = nullptr;
  std::vector<Rank> focus_;
  std::vector<uint64_t> before_;  // steps of each rank when the command began
  uint64_t taken_ = 0;
};

}  // namespace hostir::interp
