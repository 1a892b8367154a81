// Small queries on fusions, shared by several passes.
#pragma once

#include <string>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// A symbol that the program does not use yet: `stem`, `stem_1`, ...
std::string free_symbol(const Program& program, const std::string& stem);

/// The name of a mesh with exactly these ranks, ascending; added to the program as a list of ranks
/// named after `stem` if it has none.
std::string mesh_of_ranks(Program& program, const std::vector<int64_t>& ranks,
                          const std::string& stem);

/// The sharding rule of a compute op for its operands and results in `function`.
Expected<ShardingRule> rule_of(const Program& program, const Function& function,
                               const Instruction& instruction);

/// An instruction with its operand types: the argument of the functions in an op record.
struct BoundCall {
  std::vector<Type> operands;
  std::vector<Type> written;
  OpCall call;
  BoundCall(const Program& program, const Function& function, const Instruction& instruction);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;
};

/// The instructions of the body, in order. Fusions and kernels have no nested regions.
const std::vector<InstrId>& body_of(const Function& function);

/// For each value, the instructions that use it, listed once per operand.
std::vector<std::vector<InstrId>> uses_of(const Function& function);

/// True for the instruction that ends a body.
bool is_terminator(const Instruction& instruction);

TensorType& tensor_type(Function& function, ValueId value);
const TensorType& tensor_type(const Function& function, ValueId value);
/// Of a tensor that has a sharding.
const Sharding& sharding_at(const Function& function, ValueId value);

/// Appends a reshard of `value` to `to`, named `name`, on behalf of the instruction `user`. Returns
/// its result.
ValueId add_reshard(Function& function, ValueId value, const Sharding& to, InstrId user,
                    const std::string& name);

/// The number of the instruction in the fusion as it was written: that of the composite which it
/// was expanded from, else its `position`.
uint32_t written_number(const Function& function, const Instruction& instruction,
                        uint32_t position);

/// `@mlp#3`
std::string address(const Function& function, uint32_t number);

}  // namespace hostir
