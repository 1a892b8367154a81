// Lists the CUDA C++ of a program's kernels for reading; needs neither a GPU nor the toolkit.
#pragma once

#include <string>

#include "interp/core/code/code.h"

namespace hostir::cuda {

/// Every kernel of the program's launches whose operand layouts are known before the run, once for
/// all ranks that share it: the launches that use it, and its source code. For an op without a
/// kernel, the reason instead.
/// Errors: those of binding kernels.
Expected<std::string> list_kernels(const interp::Code& code);

}  // namespace hostir::cuda
