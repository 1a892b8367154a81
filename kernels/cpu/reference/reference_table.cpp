// The table of reference kernels, expanded from ops.def: a missing kernel is a link error.
#include <array>

#include "kernels/cpu/kernel.h"

namespace hostir::cpu {

#define HOSTIR_COMPUTE_OP(name) void reference_##name(const ReferenceCall& call);
#define HOSTIR_COMPOSITE_OP(name)
#include "hostir/ir/ops.def"

namespace {

constexpr std::array<ReferenceKernel, kOpCount> kTable = {
#define HOSTIR_COMPUTE_OP(name) reference_##name,
#define HOSTIR_COMPOSITE_OP(name) nullptr,
#define HOSTIR_COMMUNICATION_OP(name) nullptr,
#define HOSTIR_HOST_OP(name) nullptr,
#include "hostir/ir/ops.def"
};

}  // namespace

ReferenceKernel reference_kernel(OpKind kind) { return kTable[static_cast<size_t>(kind)]; }

}  // namespace hostir::cpu
