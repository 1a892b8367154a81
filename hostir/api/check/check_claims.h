// Runs a file's own tests on an edited version of its text, for `whatif`.
#pragma once

#include <string>

#include "interp/session/what_if/what_if.h"

namespace hostir::api {

/// Runs the tests in the function's part that run the function. Skips tests that expect an error or
/// a deadlock, because they describe the current bug. `directory` is the file's folder, for
/// `@x.npy`.
interp::CheckClaims claims_of_tests(std::string file, std::string directory,
                                    interp::BackendRequest backend);

}  // namespace hostir::api
