// Calls a kernel of the C interface on the memory of a rank.
#pragma once

#include "hostir/api/c/hostir.h"
#include "kernels/cpu/given_kernels.h"

namespace hostir::api {

void call_kernel(hostir_kernel kernel, void* context, const cpu::ReferenceCall& call);

}  // namespace hostir::api
