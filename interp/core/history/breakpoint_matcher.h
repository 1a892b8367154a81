// Finds the breakpoints that stop at a point of the run. Used by the Stepper.
//
// One matcher serves one command. `before` uses the state before an instruction. Completions heard
// during a decision are collected; `after` matches them once the decision is done, and `clear`
// forgets them. Counting a hit is separate from matching, so that going back can undo hits.
#pragma once

#include <set>
#include <vector>

#include "interp/core/history/breakpoints.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

class BreakpointMatcher final : public CompletionSink {
 public:
  BreakpointMatcher(const Interpreter& interpreter, BreakpointList& list);

  /// Enabled breakpoints that match the next instruction of `rank`.
  std::vector<Breakpoint*> before(Rank rank) const;
  /// Breakpoints that match what completed since the last call.
  struct Written {
    Breakpoint* breakpoint = nullptr;
    Rank rank = kNoRank;
    CodeIndex code = 0;
  };
  std::vector<Written> after();
  void clear() { heard_.clear(); }
  /// True if no breakpoint is enabled.
  bool idle() const { return idle_; }
  bool wants_statistics() const { return wants_statistics_; }

  void completed(const Completion& completion) override;
  void value(const ValueSummary& summary) override;

 private:
  bool accepts(const Breakpoint& b, Rank rank, CodeIndex code) const;
  bool matches_code(const Breakpoint& b, CodeIndex code) const;

  const Interpreter& in_;
  BreakpointList& list_;
  bool idle_ = true;
  bool wants_statistics_ = false;
  bool listens_ = false;
  std::vector<std::set<CodeIndex>> writers_;  // by breakpoint: instructions that write its tensor
  std::vector<Written> heard_;
};

/// Where a breakpoint was hit: the rank, its step count, the history's position, and how often the
/// history has gone back (`travel`).
struct HitPlace {
  Rank rank = kNoRank;
  uint64_t steps = 0;
  uint64_t travel = 0;
  uint64_t position = 0;
  Visit visit;
  bool own = false;  // the rank stops at its own visits, even if another rank came first
};
/// Counts a hit: once per place, however often the history passes it. True if the hit stops the
/// run.
bool count_hit(Breakpoint& breakpoint, const HitPlace& at);
/// Counts a hit of a log point and writes its line; does nothing if the rank has already written
/// it.
void write_line(BreakpointList& list, Breakpoint& breakpoint, const Interpreter& interpreter,
                CodeIndex code, const HitPlace& at);
/// True if this hit has been counted. A rank hits an instruction once while it is positioned before
/// it, however often the breakpoint is tested.
bool was_counted(const Breakpoint& breakpoint, const HitPlace& at);
/// Records that the rank has been stopped here.
void note_stop(Breakpoint& breakpoint, const HitPlace& at);
/// True if the breakpoint looks at results, not at instructions.
bool sees_results(const Breakpoint& breakpoint);
/// True for Stops::kFirstRank on a kind that supports it.
bool stops_first_rank(const Breakpoint& breakpoint);
/// The number of hits up to the current position that stop, including ignored ones.
uint64_t stops_so_far(const Breakpoint& breakpoint);
/// True if the rank is where this breakpoint was last hit.
bool is_at_last_hit(const Breakpoint& breakpoint, Rank rank, uint64_t steps, uint64_t travel);

}  // namespace hostir::interp
