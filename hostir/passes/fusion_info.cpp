#include "hostir/passes/fusion_info.h"

#include <fmt/core.h>

namespace hostir {

namespace {

Expected<void> merge_mesh(std::string& mesh, const Function& fusion, const Type& type,
                          std::string_view what, SourceSpan span) {
  const Sharding* s = sharding_of(type);
  if (s == nullptr || s->mesh == mesh) return {};
  if (mesh.empty()) {
    mesh = s->mesh;
    return {};
  }
  return fail_at(ErrorKind::kInvalid, "mesh_c9",
                 fmt::format("%{} of @{} is on mesh @{}, another value is on @{}: a fusion runs on "
                             "one mesh",
                             what, fusion.name, s->mesh, mesh),
                 span);
}

}  // namespace

Expected<std::string> mesh_of_fusion(const Function& fusion) {
  std::string mesh;
  for (const Value& v : fusion.values) {
    HOSTIR_TRY(merge_mesh(mesh, fusion, v.type, v.name, v.span));
  }
  for (const ResultDecl& r : fusion.results) {
    HOSTIR_TRY(merge_mesh(mesh, fusion, r.type, r.name, r.span));
  }
  return mesh;
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
  if (op.rule == nullptr) {
    return fail_at(ErrorKind::kInvalid, "propagate_c1",
                   fmt::format("{} has no sharding rule", op.mnemonic), instruction.name_span);
  }
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

std::string address(const Function& function, uint32_t number) {
  return fmt::format("@{}#{}", function.name, number);
}

}  // namespace hostir
