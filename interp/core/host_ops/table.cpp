// The table of host ops, expanded from ops.def: a missing op is a link error that names it.

#include <array>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

#define HOSTIR_COMMUNICATION_OP(name) extern const CommunicationFacts communication_##name;
#define HOSTIR_HOST_OP(name) bool execute_##name(Engine& engine, Step& step);
#include "hostir/ir/ops.def"

bool execute_communication(Engine& engine, Step& step);

namespace {

// compile_code() rejects compute ops in host functions.
constexpr std::array<ExecuteOp, kOpCount> kExecute = {
#define HOSTIR_COMPUTE_OP(name) nullptr,
#define HOSTIR_COMMUNICATION_OP(name) &execute_communication,
#define HOSTIR_HOST_OP(name) &execute_##name,
#include "hostir/ir/ops.def"
};

constexpr std::array<const CommunicationFacts*, kOpCount> kFacts = {
#define HOSTIR_COMPUTE_OP(name) nullptr,
#define HOSTIR_COMMUNICATION_OP(name) &communication_##name,
#define HOSTIR_HOST_OP(name) nullptr,
#include "hostir/ir/ops.def"
};

}  // namespace

ExecuteOp execute_op(OpKind kind) { return kExecute[static_cast<size_t>(kind)]; }

const CommunicationFacts* communication_facts(OpKind kind) {
  return kFacts[static_cast<size_t>(kind)];
}

}  // namespace hostir::interp
