// Breakpoints of a live session: from commands to the interpreter's list and back.
//
// Keeps the text that makes each breakpoint again, and its place in a form that survives an edit of
// the program, so that a new run of a changed text can bind it anew.
//
// Which rank stops: an instruction is the same for all ranks, so the first that comes to it stops
// the run, once per visit. Each rank stops where the breakpoint can tell ranks apart: it names
// ranks (`on all`: all of them), looks at what was written (watch, write, nan) or at a rendezvous,
// or its condition asks for more than where in the program that is (op function address comm
// stream kernel iteration, loop variables).
#pragma once

#include <vector>

#include "interp/core/stepper.h"
#include "interp/session/breakpoint_snapshot.h"
#include "interp/session/command.h"
#include "interp/session/program_view.h"

namespace hostir::interp {

class LiveBreakpoints {
 public:
  LiveBreakpoints(const Interpreter& interpreter, const ProgramView& view);

  /// break, tbreak, watch, dprintf. Errors (kUsage): no such place, unknown names in the condition
  /// or ranks.
  Expected<uint32_t> add(const Command& command, Rank focus);
  /// delete, enable, disable, condition, ignore. Errors: no breakpoint of that number.
  Expected<void> change(const Command& command);
  bool remove(uint32_t number);

  BreakpointList& list() { return list_; }
  /// The command that made it; null: there is none of that number.
  const Command* command(uint32_t number) const;
  std::vector<BreakpointSnapshot> snapshot() const;
  /// The commands that make all breakpoints again, in places that survive edits.
  std::vector<std::string> commands() const;

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
