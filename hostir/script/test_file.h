// Runs one script file: its text checks and its tests.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/report.h"
#include "hostir/script/runner.h"

namespace hostir::script {

struct FileResult {
  std::vector<TestCase> cases;
  bool rewritten = false;
};

/// Always returns a result: an unreadable file is a failed case.
FileResult run_file(const std::string& path, const TestOptions& options,
                    const interp::BackendFactory& make_backend);

}  // namespace hostir::script
