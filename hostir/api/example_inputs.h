// Inputs for a program that is opened without any, so that a window always has something to step
// through.
//
// What is given stays. Missing inputs come from the first `run` of the function in the file's own
// tests; where there is none, or some inputs were given, from generators, and sizes that nothing
// binds become small. What was made up is told, never hidden. `run` does so only when asked.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "interp/session/engine.h"

namespace hostir::api {

/// Adds to `inputs` and `sizes` what the function needs beyond them. Returns a sentence about what
/// was added, empty if nothing was. Errors: of the values that the tests name (files, inline text).
Expected<std::string> add_example_inputs(const Program& program, const std::string& function,
                                         const std::string& directory,
                                         std::vector<interp::NamedInput>& inputs,
                                         std::vector<std::pair<std::string, int64_t>>& sizes);

}  // namespace hostir::api
