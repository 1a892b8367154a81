// Writes a model::Run as a log: for importers, for tests, and for any run whose program is not
// ours.
//
// The log opens like any other, in the terminal, in the GUI, and with SQL. What the Run does not
// know is NULL. Reading it back (log_model.h) gives the same verdict.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/model/run.h"

namespace hostir::traces {

struct LogBuilderOptions {
  std::string command_line;
  std::string source_name;  // human-readable origin
  std::vector<std::pair<std::string, std::string>> properties;
  enum class Verdict : uint8_t {
    kStored,   // in the table `fault`, as for faults of the engine
    kLeftOut,  // readers compute it
  } verdict = Verdict::kStored;
};

/// Replaces an older log at `path`.
/// Errors: `log_exists` if the path holds something else, `log_io`, `log_full`.
Expected<void> write_log(const std::string& path, const model::Run& run,
                         const LogBuilderOptions& options = {});

}  // namespace hostir::traces
