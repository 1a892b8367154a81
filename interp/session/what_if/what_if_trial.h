// One trial: parses, checks, prepares and runs a text from the start in its own interpreter.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "interp/session/what_if/what_if.h"

namespace hostir::interp::what_if_parts {

/// Buffers that the unchanged text allocates and never frees, as `@f %a`, with their lines
/// (0-based).
using NeverFreed = std::map<std::string, size_t>;

/// Data shared by all trials of a search.
struct TrialSetup {
  std::string file;
  std::string function;
  std::vector<NamedInput> inputs;
  PrepareOptions prepare;
  BackendFactory make_backend;
  BackendRequest backend;
  NeverFreed never_freed;   // not a warning of an edit
  std::string whose_lines;  // appended to line numbers: ` of the edited text`
  uint64_t max_steps = 0;
  double max_seconds = 10;
};

struct TrialResult {
  WhatIfTrial::Verdict verdict = WhatIfTrial::Verdict::kRefused;
  std::string why;
  std::vector<std::string> warnings;
  std::set<std::string> leaks;           // those of `TrialSetup::never_freed` that occurred
  uint64_t steps = 0;                    // host instructions over all ranks
  std::shared_ptr<const Snapshot> shot;  // where it is stuck, if it is
};

TrialResult try_text(const std::string& text, const TrialSetup& setup, const std::stop_token& stop);

}  // namespace hostir::interp::what_if_parts
