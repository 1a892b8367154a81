// What a file's own tests say about a changed text of it, for `whatif`.
#pragma once

#include <string>

#include "interp/session/what_if.h"

namespace hostir::api {

/// Runs the tests of the part with the function that run it and expect neither an error nor a
/// deadlock: those say what is wrong with it now. `directory`: of the file, for `@x.npy`.
interp::CheckClaims claims_of_tests(std::string file, std::string directory,
                                    interp::BackendRequest backend);

}  // namespace hostir::api
