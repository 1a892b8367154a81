// A step that runs one op through its reference kernel, for ops without a fast form.
#pragma once

#include "kernels/cpu/step.h"

namespace hostir::cpu {

/// Both arguments outlive the step.
std::unique_ptr<Step> make_reference_step(const BoundKernel& kernel,
                                          const Instruction& instruction);

}  // namespace hostir::cpu
