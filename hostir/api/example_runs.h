// Runs a function and the unsharded fusion that it is to compute on the same example inputs and
// compares every rank's outputs.
//
// `verify --against` confirms with it what it found without values: a factor or a term that is
// missed makes no difference where the value is 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/api/program_options.h"

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

/// `given` chooses the function; `against` names a fusion of the same program, without '@'.
ExampleRuns run_examples(const LoadedFile& file, const Program& program, ProgramOptions given,
                         const std::string& against);

}  // namespace hostir::api
