// The backends that this build has, behind the factory that sessions and replays are given.
#pragma once

#include "interp/session/engine.h"

namespace hostir::cli {

/// Makes `sim` and `null`. Errors: `no_backend` names what this build has.
interp::BackendFactory make_backend_factory();

}  // namespace hostir::cli
