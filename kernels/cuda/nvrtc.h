// NVRTC: CUDA C++ to machine code, for a named architecture. Needs no GPU.
#pragma once

#include <string>

#include "hostir/support/expected.h"

namespace hostir::cuda {

/// Machine code of the prelude and `text` for an architecture like "sm_90". Thread-safe; loads
/// NVRTC at the first call.
/// Errors: `cuda_missing`, `cuda_compile` with NVRTC's log.
Expected<std::string> compile_text(const std::string& text, const std::string& arch);

/// "13.0", and the compile options: part of the key of cached code.
Expected<std::string> compiler_version();

}  // namespace hostir::cuda
