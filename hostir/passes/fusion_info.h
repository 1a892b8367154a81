// Small questions that several passes ask about a fusion.
#pragma once

#include <string>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// The one mesh that the fusion's shardings name; empty if there is no sharding at all.
/// Errors: `mesh_c9` shardings on two meshes.
Expected<std::string> mesh_of_fusion(const Function& fusion);

/// The sharding rule of a compute op with its operands and results as they stand in `function`.
Expected<ShardingRule> rule_of(const Program& program, const Function& function,
                               const Instruction& instruction);

/// What the record's functions are asked about: an instruction with its operand types.
struct BoundCall {
  std::vector<Type> operands;
  std::vector<Type> written;
  OpCall call;
  BoundCall(const Program& program, const Function& function, const Instruction& instruction);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;
};

/// Instructions of the body in order (fusions and kernels have no inner regions).
const std::vector<InstrId>& body_of(const Function& function);

/// By value: the instructions that use it, once per operand.
std::vector<std::vector<InstrId>> uses_of(const Function& function);

/// True for the instruction that ends a body.
bool is_terminator(const Instruction& instruction);

TensorType& tensor_type(Function& function, ValueId value);
const TensorType& tensor_type(const Function& function, ValueId value);

/// `@mlp#3`
std::string address(const Function& function, uint32_t number);

}  // namespace hostir
