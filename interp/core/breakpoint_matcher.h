// Asking breakpoints: which one, if any, stops here. Used by the Stepper.
//
// Made for one command. `before` is asked with the state before an instruction; completions heard
// during a decision are collected and asked about after it (`after`). Counting a hit is separate
// from matching, so that going back can take hits back. `heard` completions are forgotten by
// `clear`.
#pragma once

#include <set>
#include <vector>

#include "interp/core/breakpoints.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

class BreakpointMatcher final : public CompletionSink {
 public:
  BreakpointMatcher(const Interpreter& interpreter, BreakpointList& list);

  /// Enabled breakpoints that match the instruction which `rank` is about to execute.
  std::vector<Breakpoint*> before(Rank rank) const;
  /// Those that match what completed since the last call.
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
  std::vector<std::set<CodeIndex>> writers_;  // beside list_: instructions that write the tensor
  std::vector<Written> heard_;
};

/// Where a breakpoint is hit: the rank, its number of steps, and the history's position and
/// travels.
struct HitPlace {
  Rank rank = kNoRank;
  uint64_t steps = 0;
  uint64_t travel = 0;
  uint64_t position = 0;
  Visit visit;
  bool own = false;  // the rank stops at its own visits, whoever was there before
};
/// Counts a hit, once however often the history comes to it; true if it stops.
bool count_hit(Breakpoint& breakpoint, const HitPlace& at);
/// Counts a hit of a log point and writes its line; nothing if the rank has written it already.
void write_line(BreakpointList& list, Breakpoint& breakpoint, const Interpreter& interpreter,
                CodeIndex code, const HitPlace& at);
/// Whether this hit is counted already. An instruction is hit once by a rank that stands before it,
/// however often it is asked.
bool was_counted(const Breakpoint& breakpoint, const HitPlace& at);
/// The rank has been stopped here.
void stand(Breakpoint& breakpoint, const HitPlace& at);
/// It looks at results, not at instructions.
bool sees_results(const Breakpoint& breakpoint);
/// Stops::kFirstRank, where that means something.
bool stops_first_rank(const Breakpoint& breakpoint);
/// How many hits on the line up to the position stop, those that are ignored included.
uint64_t stops_so_far(const Breakpoint& breakpoint);
/// Whether the rank stands where this breakpoint was hit last.
bool stands_at(const Breakpoint& breakpoint, Rank rank, uint64_t steps, uint64_t travel);

}  // namespace hostir::interp
