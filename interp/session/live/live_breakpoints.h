// Breakpoints of a live session: converts between commands and the interpreter's list.
//
// Keeps the text that recreates each breakpoint, with its place in a form that survives edits of
// the program, so that a run of the edited text can bind it again.
//
// Which ranks stop: an instruction is the same for all ranks, so by default the first rank that
// reaches it stops the run, once per visit. Each rank stops if the breakpoint distinguishes ranks:
// it names ranks (`on all`: all of them), it is a watch, write, nan or rendezvous breakpoint, or
// its condition uses more than the place in the program (op function address comm stream kernel
// iteration, loop variables).
#pragma once

#include <vector>

#include "interp/core/history/stepper.h"
#include "interp/session/commands/command.h"
#include "interp/session/prepare/program_view.h"
#include "interp/session/snapshots/breakpoint_snapshot.h"

namespace hostir::interp {

class LiveBreakpoints {
 public:
  LiveBreakpoints(const Interpreter& interpreter, const ProgramView& view);

  /// break, tbreak, watch, dprintf. Errors (kUsage): unknown place; unknown names in the condition
  /// or ranks.
  Expected<uint32_t> add(const Command& command, Rank focus);
  /// The commands delete, enable, disable, condition, ignore. Errors: no breakpoint with that
  /// number.
  Expected<void> change(const Command& command);
  bool remove(uint32_t number);
  /// Replaces all by those of another run of the same program, with their numbers and hits.
  void adopt(const LiveBreakpoints& other);

  BreakpointList& list() { return list_; }
  /// The command that created it; null if there is no such number.
  const Command* command(uint32_t number) const;
  std::vector<BreakpointSnapshot> snapshot() const;

 private:
  struct Entry {
    uint32_t number = 0;
    Command command;  // with a stable place
  };
  Expected<Breakpoint> make(const Command& command, Rank focus) const;
  void set_condition(Breakpoint& breakpoint, const Command& command) const;
  Expected<void> change_one(const Command& command, int64_t number);
  Breakpoint* find(uint32_t number);

  const Interpreter& interpreter_;
  const ProgramView& view_;
  BreakpointList list_;
  std::vector<Entry> entries_;
};

}  // namespace hostir::interp
