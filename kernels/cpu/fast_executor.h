// The fast kernel set: runs the steps of a plan on parameters, results and an arena of temporaries.
#pragma once

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Errors: `kernel_invalid`, as for compile_reference.
Expected<std::unique_ptr<CompiledKernel>> compile_fast(const BoundKernel& kernel);

}  // namespace hostir::cpu
