// Writes a model::Run as a log: for importers, for tests, for anybody who knows of a run and has no
// program text of ours.
//
// The log opens like any other: in the terminal, in the window, with SQL. What the Run does not
// know is NULL there. Reading it back (log_model.h) gives the same verdict.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/model/run.h"

namespace hostir::traces {

struct LogBuilderOptions {
  std::string command_line;
  std::string source_name;  // where it comes from, for people
  std::vector<std::pair<std::string, std::string>> properties;
  enum class Verdict : uint8_t {
    kStored,   // in the table `fault`, as the engine's faults are
    kLeftOut,  // readers work it out
  } verdict = Verdict::kStored;
};

/// Replaces an older log at `path`. Errors: `log_exists` where the path holds something else,
/// `log_io`, `log_full`.
Expected<void> write_log(const std::string& path, const model::Run& run,
                         const LogBuilderOptions& options = {});

}  // namespace hostir::traces
