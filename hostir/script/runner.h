// Running scripts: every `.hir` file is a test.
//
// For each file: it is printed, read again and compared; negative scripts are held against their
// `expected-error` comments; each `test` piece is executed with every expectation checked, none of
// which stops the others. Files run in parallel, each on its own; results come in order of path.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/report.h"
#include "interp/session/engine.h"

namespace hostir::script {

struct TestOptions {
  std::string filter;  // glob or part of `file: title`; empty: all
  int jobs = 1;
  enum class Update : uint8_t { kNo, kYes } update = Update::kNo;
  int64_t schedules = 1;  // at least so many schedules per run
  /// Host instructions of one test, all its runs and rounds of `repeat` together; 0: no limit.
  uint64_t max_steps = 0;
  interp::BackendRequest backend;  // a machine of the file replaces this one's
};

/// Files, and folders searched for `*.hir`. Errors: a path that does not exist, nothing found.
Expected<std::vector<std::string>> find_scripts(const std::vector<std::string>& paths);

Expected<TestReport> run_tests(const std::vector<std::string>& paths, const TestOptions& options,
                               const interp::BackendFactory& make_backend);

}  // namespace hostir::script
