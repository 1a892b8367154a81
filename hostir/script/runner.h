// The script runner: every `.hir` file is a test.
//
// The runner prints each file, parses the output and compares. It checks the diagnostics of a
// negative script against its `expected-error` comments. It executes each `test` piece and checks
// all expectations; a failure does not stop the others. Files run in parallel and independently;
// results are sorted by path.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hostir/script/report.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::script {

struct TestOptions {
  std::string filter;  // glob or substring of `file: title`; empty: all
  int jobs = 1;
  enum class Update : uint8_t { kNo, kYes } update = Update::kNo;
  int64_t schedules = 1;  // minimum number of schedules per run
  /// Limit on host instructions per test, summed over its runs and `repeat` rounds; 0: no limit.
  uint64_t max_steps = 0;
  /// Called on the caller's thread from time to time with the files begun; may be empty.
  std::function<void(size_t begun, size_t files)> progress;
  interp::BackendRequest backend;  // a machine in the file overrides the one given here
};

/// The given files and all `*.hir` files in the given folders. Errors: a path does not exist, or
/// there are no scripts.
Expected<std::vector<std::string>> find_scripts(const std::vector<std::string>& paths);

Expected<TestReport> run_tests(const std::vector<std::string>& paths, const TestOptions& options,
                               const interp::BackendFactory& make_backend);

}  // namespace hostir::script
