// One script file: its text checks and its tests.
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

/// Never fails as a whole: a file that can not be read is a failed case.
FileResult run_file(const std::string& path, const TestOptions& options,
                    const interp::BackendFactory& make_backend);

}  // namespace hostir::script
