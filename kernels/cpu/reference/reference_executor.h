// The reference kernel set: runs op by op through the reference loops, each result in its own
// memory.
#pragma once

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

/// Errors: `kernel_invalid` for a body that is not a list of compute ops closed by `return`.
Expected<std::unique_ptr<CompiledKernel>> compile_reference(const BoundKernel& kernel);

using kernels::kernel_body;
using kernels::returned_values;

/// Runs one instruction; `memory` is indexed by ValueId.
void run_reference(const BoundKernel& kernel, const Instruction& instruction,
                   std::span<const ConstMemory> read, std::span<const Memory> write);

/// True if the byte ranges share memory.
bool overlaps(ConstMemory a, Memory b);

}  // namespace hostir::cpu
