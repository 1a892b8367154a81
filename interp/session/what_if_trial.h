// One trial: a text, read, checked, prepared and run from the start in an interpreter of its own.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "interp/session/what_if.h"

namespace hostir::interp::what_if_parts {

/// Buffers that the unchanged text allocates and never frees, as `@f %a`, with their lines
/// (0-based).
using NeverFreed = std::map<std::string, size_t>;

/// What all trials of a search share.
struct TrialSetup {
  std::string file;
  std::string function;
  std::vector<NamedInput> inputs;
  PrepareOptions prepare;
  BackendFactory make_backend;
  BackendRequest backend;
  NeverFreed never_freed;   // no warning of an edit
  std::string whose_lines;  // said behind a line: ` of the edited text`
  uint64_t max_steps = 0;
  double max_seconds = 10;
};

struct TrialResult {
  WhatIfTrial::Verdict verdict = WhatIfTrial::Verdict::kRefused;
  std::string why;
  std::vector<std::string> warnings;
  std::set<std::string> leaks;           // those of `TrialSetup::never_freed` that were met
  uint64_t steps = 0;                    // host instructions of all ranks
  std::shared_ptr<const Snapshot> shot;  // where it is stuck, if it is
};

TrialResult try_text(const std::string& text, const TrialSetup& setup, const std::stop_token& stop);

}  // namespace hostir::interp::what_if_parts
