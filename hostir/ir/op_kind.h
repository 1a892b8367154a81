// Instruction kinds, generated from ops.def.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hostir {

enum class OpKind : uint8_t {
#define HOSTIR_COMPUTE_OP(name) name,
#define HOSTIR_COMMUNICATION_OP(name) name,
#define HOSTIR_HOST_OP(name) name,
#include "hostir/ir/ops.def"
};

inline constexpr size_t kOpCount = 0
#define HOSTIR_COMPUTE_OP(name) +1
#define HOSTIR_COMMUNICATION_OP(name) +1
#define HOSTIR_HOST_OP(name) +1
#include "hostir/ir/ops.def"
    ;

enum class OpClass : uint8_t { kCompute, kCommunication, kHost };

}  // namespace hostir
