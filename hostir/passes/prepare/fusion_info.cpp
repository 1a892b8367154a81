#include "hostir/passes/prepare/fusion_info.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir {

std::string free_symbol(const Program& program, const std::string& stem) {
  std::string symbol = stem;
  for (int n = 1; program.find_function(symbol) != nullptr ||
                  program.find_mesh(symbol) != nullptr || program.find_machine(symbol) != nullptr;
       ++n) {
    symbol = stem + "_" + std::to_string(n);
  }
  return symbol;
}

std::string mesh_of_ranks(Program& program, const std::vector<int64_t>& ranks,
                          const std::string& stem) {
  for (const Mesh& mesh : program.meshes) {
    std::vector<int64_t> have = mesh.ranks();
    std::sort(have.begin(), have.end());
    if (have == ranks) return mesh.name;
  }
  Mesh made;
  made.name = free_symbol(program, stem);
  if (ranks.size() > 1) made.axes = {{"r", static_cast<int64_t>(ranks.size())}};
  if (ranks.back() + 1 != static_cast<int64_t>(ranks.size())) made.device_ids = ranks;
  using Piece = Program::Piece;
  const auto last = std::find_if(program.order.rbegin(), program.order.rend(), [](const Piece& p) {
    return p.kind == Program::PieceKind::kMesh;
  });
  program.order.insert(last == program.order.rend() ? program.order.begin() : last.base(),
                       {Program::PieceKind::kMesh, static_cast<uint32_t>(program.meshes.size())});
  program.meshes.push_back(made);
  return made.name;
}

BoundCall::BoundCall(const Program& program, const Function& function,
                     const Instruction& instruction)
    : operands(operand_types(function, instruction)),
      written(written_types(function, instruction)),
      call{.kind = instruction.kind,
           .operands = operands,
           .attributes = instruction.attributes,
           .instruction = &instruction,
           .function = &function,
           .program = &program,
           .written = written} {}

Expected<ShardingRule> rule_of(const Program& program, const Function& function,
                               const Instruction& instruction) {
  const OpRecord& op = record(instruction.kind);
  const BoundCall bound(program, function, instruction);
  std::vector<Type> results;
  for (const ValueId r : instruction.results) results.push_back(function.value(r).type);
  return op.rule(bound.call, results);
}

const std::vector<InstrId>& body_of(const Function& function) {
  return function.region(function.body).instructions;
}

std::vector<std::vector<InstrId>> uses_of(const Function& function) {
  std::vector<std::vector<InstrId>> uses(function.values.size());
  for (const InstrId id : function.preorder()) {
    for (const Operand& o : function.instr(id).operands) {
      if (o.value.valid()) uses[o.value.index].push_back(id);
    }
  }
  return uses;
}

bool is_terminator(const Instruction& instruction) { return instruction.kind == OpKind::return_; }

TensorType& tensor_type(Function& function, ValueId value) {
  return std::get<TensorType>(function.value(value).type);
}
const TensorType& tensor_type(const Function& function, ValueId value) {
  return std::get<TensorType>(function.value(value).type);
}

const Sharding& sharding_at(const Function& function, ValueId value) {
  return *tensor_type(function, value).sharding;
}

ValueId add_reshard(Function& function, ValueId value, const Sharding& to, InstrId user,
                    const std::string& name) {
  TensorType type = tensor_type(function, value);
  type.sharding = to;
  Instruction move;
  move.kind = OpKind::reshard;
  move.operands.push_back(Operand{.value = value});
  move.from = function.instr(user).from;
  const ValueId result = function.add_value(name, type);
  function.value(result).origin = function.value(value).origin;
  move.results = {result};
  function.add_instruction(function.body, std::move(move));
  return result;
}

uint32_t written_number(const Function& function, const Instruction& instruction,
                        uint32_t position) {
  if (instruction.from.empty()) return position;
  const OpRef& from = instruction.from.front();
  return from.function == function.name ? from.number : position;
}

std::string address(const Function& function, uint32_t number) {
  return fmt::format("@{}#{}", function.name, number);
}

}  // namespace hostir
