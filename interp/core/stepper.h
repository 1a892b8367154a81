// Stepping: what a debugger's commands do, forwards and backwards, for one rank, a group, or all.
//
// Works on a History and a BreakpointList. A focus set of ranks moves; ranks that are not in focus
// move only when the focus is blocked and needs them (`Drag::kNeeded`), and are reported in
// `moved`. A frozen rank never moves. In a run that was recorded, all ranks move in the recorded
// order, until somebody decides otherwise (freezes, edits): a step of one rank is what was recorded
// up to there. Every command ends at the first stop: target reached,
// breakpoint, fault, nothing can move, end of the run, start of the history (backwards).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "interp/core/breakpoints.h"
#include "interp/core/history.h"

namespace hostir::interp {

enum class Direction : uint8_t { kForward, kBackward };

struct StepCommand {
  enum class Kind : uint8_t {
    kInto,            // one instruction per focus rank
    kOver,            // one instruction, calls, loop regions and groups as one
    kOut,             // to behind the enclosing call or loop
    kNextCollective,  // to before the next communication instruction of a focus rank
    kRendezvous,      // until all members of the next collective of the focus have arrived
    kToInstruction,   // to before `target` on a focus rank
    kContinue,        // to the next stop
  } kind = Kind::kInto;
  Direction direction = Direction::kForward;
  std::vector<Rank> focus;  // empty: all ranks
  /// Ranks that breakpoints of the kind Stops::kFirstRank stop at each visit of their own; empty:
  /// none, each visit stops once.
  std::vector<Rank> own_visits;
  std::vector<CodeIndex> target;
  enum class Drag : uint8_t { kNeeded, kStrict } drag = Drag::kNeeded;
  uint64_t max_decisions = UINT64_MAX;
};

struct StopReport {
  enum class Reason : uint8_t {
    kStepped,  // the command did what it says
    kBreakpoint,
    kFault,      // see Interpreter::faults()
    kBlocked,    // focus blocked, kStrict
    kStuck,      // nothing can move, because of frozen ranks
    kFinished,   // all ranks returned and drained
    kBeginning,  // backwards at position 0
    kLimit,      // max_decisions, or the interrupt said so
  } reason = Reason::kStepped;
  uint32_t breakpoint = 0;  // id
  Rank rank = kNoRank;      // whose instruction, write or breakpoint it was
  CodeIndex code = 0;
  /// Of a breakpoint that stops the first rank of a visit: how many of the ranks that were started
  /// are past it; some of them may have gone around it.
  struct Visitors {
    Rank past = 0;
    Rank ranks = 0;
    bool came_first = true;  // of those that the breakpoint has seen
  };
  std::optional<Visitors> visitors;
  std::vector<Moved> moved;
};

class BreakpointMatcher;
struct HitPlace;

class Stepper {
 public:
  Stepper(History& history, BreakpointList& breakpoints);
  Expected<StopReport> run(const StepCommand& command);
  /// To call after the history was sent somewhere without the stepper: corrects hit counts.
  void moved();
  /// Asked every few thousand decisions; true ends the command with kLimit.
  void set_interrupt(std::function<bool()> interrupt);

 private:
  using Stop = std::optional<StopReport>;
  /// Whether a rank has got to where the command wants it; asked after each of its decisions.
  using Goal = std::function<bool(Rank)>;
  struct Drive {
    std::vector<Rank> ranks;
    std::vector<char> reached;  // beside `ranks`
    Goal goal;
    bool first_ends = false;  // the first rank at its goal ends the command
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
  struct Found;  // a hit that the search came by
  Expected<StopReport> back_to_stop();
  Expected<std::vector<Found>> hits_between(uint64_t begin, uint64_t end, uint64_t start);
  Expected<StopReport> stop_at(const Found& found);
  Expected<StopReport> back_to(const std::function<bool(const Decision&)>& wanted);

  Interpreter& interpreter() const { return history_.interpreter(); }

  History& history_;
  BreakpointList& breakpoints_;
  std::function<bool()> interrupt_;
  // Of the command that is running.
  const StepCommand* command_ = nullptr;
  BreakpointMatcher* matcher_ = nullptr;
  std::vector<Rank> focus_;
  std::vector<uint64_t> before_;  // steps of each rank when the command began
  uint64_t taken_ = 0;
};

}  // namespace hostir::interp
