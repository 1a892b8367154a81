// Runs a function and the unsharded fusion that it should compute on the same example inputs, and
// compares every rank's outputs.
//
// `verify --against` uses it to confirm what it found without values: for example, a missing factor
// does not matter if the value is always 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/api/open/program_options.h"

namespace hostir::api {

struct ExampleRuns {
  struct Output {
    /// `on the example inputs %y[0, 0] is -0.41 on rank 0 and 0.87 in @f`; unset if all are equal.
    std::optional<std::string> difference;
    bool is_rounding = false;  // the difference may come from another order of operations
  };
  bool compared = false;  // false: the inputs are too large, or one of the runs failed
  std::vector<Output> outputs;
};

/// `given` names the function to run, `against` a fusion of the same program, without '@'.
ExampleRuns run_examples(const LoadedFile& file, const Program& program, ProgramOptions given,
                         const std::string& against);

}  // namespace hostir::api
