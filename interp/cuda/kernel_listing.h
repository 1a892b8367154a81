// The CUDA C++ of a program's kernels, for reading: made without a GPU and without the toolkit.
#pragma once

#include <string>

#include "interp/core/code.h"

namespace hostir::cuda {

/// Every kernel of the program's launches whose operands lie where it is known before the run, once
/// for all ranks that share it: who launches it, and the text. Where an op has no kernel the reason
/// stands instead. Errors: those of binding kernels.
Expected<std::string> list_kernels(const interp::Code& code);

}  // namespace hostir::cuda
