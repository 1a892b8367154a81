// Compares two logs: of two runs, two backends, or two versions of a program.
//
// First it compares what may explain differences: backend, kernels, machine, mesh and schedule as
// remarks, inputs as findings. Then structure (instructions, collectives, what each rank executed).
// Then what was written, by tensor name and in order of time. Tensors are compared by digest or, if
// both logs have the contents, within a tolerance. One finding per tensor: its first divergence.
// Values that only one side has are a finding: nothing counts as equal without a comparison.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/log_reader.h"

namespace hostir::traces {

struct DiffOptions {
  double atol = 0;  // |a - b| <= atol + rtol * |b|, if the contents are known
  double rtol = 0;
};

struct DiffFinding {
  std::string what;  // "program", "instructions", "collectives", "input", "value", "fault"
  std::string sentence;
  std::string tensor;  // of a value
  int64_t event_a = -1;
  int64_t event_b = -1;
  interp::Rank rank = interp::kNoRank;
};

struct DiffReport {
  std::vector<std::string> remarks;   // other differences, and what could not be compared
  std::vector<DiffFinding> findings;  // empty: equal
  int64_t instructions = 0;           // number compared
  int64_t collectives = 0;
  int64_t values = 0;
};

/// Errors: those of reading.
Expected<DiffReport> diff(const LogReader& a, const LogReader& b, const DiffOptions& options = {});

/// One line per finding, or a summary of what was equal.
std::string to_string(const DiffReport& report);

}  // namespace hostir::traces
