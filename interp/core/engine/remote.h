// Control messages between the interpreters of different processes.
//
// While a program runs, processes interact only through the backend. When nothing can move, each
// process reports the positions of its ranks and what they have issued, so that all derive the same
// verdict from the same ledger. When all ranks have returned, each process reports its parts of the
// results.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "interp/core/interpreter.h"

namespace hostir::interp {

struct RunContext;

/// Parts of results held by ranks of other processes.
struct RemoteParts {
  struct Part {
    BufferRef ref;  // its placement is in `placements`
    Tensor value;   // row-major over the box
  };
  std::deque<Placement> placements;
  std::map<std::pair<Rank, size_t>, Part> parts;  // by (rank, result)
};

/// The positions of this process' ranks: their tasks in flight and their arrivals at unfinished
/// meetings.
std::string report_of(const RunContext& run);
/// Applies another process' report as if its ranks were local. False if the report is malformed.
bool enter_report(RunContext& run, const std::string& report);

/// This process' parts of the results. Errors: those of reading from the backend.
Expected<std::string> results_of(const Interpreter& interpreter);
bool enter_results(RemoteParts& parts, const std::string& results);

}  // namespace hostir::interp
