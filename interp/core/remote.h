// What an interpreter tells those of other processes, and learns from them.
//
// While a program runs they only meet through the backend. When nothing moves any more each tells
// where its ranks stand and what they have issued, so that everybody finds the same verdict from
// the same ledger; when all have returned each tells its parts of the results.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "interp/core/interpreter.h"

namespace hostir::interp {

/// Parts of results that ranks of other processes hold.
struct RemoteParts {
  struct Part {
    BufferRef ref;  // its placement is in `placements`
    Tensor value;   // row-major over the box
  };
  std::deque<Placement> placements;
  std::map<std::pair<Rank, size_t>, Part> parts;  // by (rank, result)
};

/// Where the ranks of this process stand: their tasks in flight and what they brought to meetings
/// that are not over.
std::string report_of(const Engine& engine);
/// Enters what another process reported, as if its ranks were here. False: not understood.
bool enter_report(Engine& engine, const std::string& report);

/// Errors: those of reading from the backend.
Expected<std::string> results_of(const Interpreter& interpreter);
bool enter_results(RemoteParts& parts, const std::string& results);

}  // namespace hostir::interp
