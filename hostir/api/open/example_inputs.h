// Example inputs for a program that is opened without inputs, so that the GUI always has something
// to step through.
//
// Given inputs are kept. Missing inputs come from the first `run` of the function in the file's own
// tests. If there is none, or some inputs were given, they come from generators, and unbound sizes
// get small values. Added inputs are always reported. The verb `run` adds them only on request.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

/// Adds the missing inputs and sizes of the function. Returns a sentence about the additions; empty
/// if there are none. Errors: those of reading the values that the tests name (files, inline text).
Expected<std::string> add_example_inputs(const Program& program, const std::string& function,
                                         const std::string& directory,
                                         std::vector<interp::NamedInput>& inputs,
                                         std::vector<std::pair<std::string, int64_t>>& sizes);

}  // namespace hostir::api
