// Breakpoints and watches for display.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct BreakpointSnapshot {
  uint32_t number = 0;  // 1-based, never reused in a session
  std::string text;     // command that recreates it: `break all_reduce#1 if rank == 3`
  bool enabled = true;
  bool temporary = false;
  bool logs = false;              // writes a line and never stops
  int64_t hits = 0;               // on this branch up to this position, summed over ranks
  int64_t ignore = 0;             // stops (for a log point: lines) still to be ignored
  std::vector<CodeIndex> places;  // empty: not bound to instructions (nan, collective, watch)
  std::string problem;            // why it cannot be hit: the place is not in this program
};

}  // namespace hostir::interp
