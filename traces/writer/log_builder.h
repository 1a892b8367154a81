// Writes a model::Run as a log: for importers, for tests, and for any run whose program is not
// ours.
//
// The log opens like any other, in the terminal, in the GUI, and with SQL. What the Run does not
// know is NULL. Reading it back (log_model.h) gives the same verdict.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/model/run.h"
#include "interp/model/verdict.h"

namespace hostir::traces {

struct LogBuilderOptions {
  std::string command_line;
  std::string source_name;  // human-readable origin
  std::vector<std::pair<std::string, std::string>> properties;
  /// In the table `fault`, as for faults of the engine: that of diagnose(), or the importer's,
  /// which may know more. Without one readers compute it.
  enum class Verdict : uint8_t { kStored, kLeftOut } verdict = Verdict::kStored;
  std::optional<model::Verdict> judged;  // the importer's
};

/// Replaces an older log at `path`.
/// Errors: `log_exists` if the path holds something else, `log_io`, `log_full`.
Expected<void> write_log(const std::string& path, const model::Run& run,
                         const LogBuilderOptions& options = {});

}  // namespace hostir::traces
