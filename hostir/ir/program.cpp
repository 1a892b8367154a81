#include "hostir/ir/program.h"

namespace hostir {

Instruction::Instruction() = default;
Instruction::Instruction(const Instruction&) = default;
Instruction::Instruction(Instruction&&) noexcept = default;
Instruction& Instruction::operator=(const Instruction&) = default;
Instruction& Instruction::operator=(Instruction&&) noexcept = default;
Instruction::~Instruction() = default;
bool operator==(const Instruction&, const Instruction&) = default;

Function::Function() = default;
Function::Function(const Function&) = default;
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(const Function&) = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;
bool operator==(const Function&, const Function&) = default;

Program::Program() = default;
Program::Program(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(const Program&) = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;
bool operator==(const Program&, const Program&) = default;

ValueId Function::add_value(std::string value_name, Type type) {
  Value v;
  v.name = std::move(value_name);
  v.type = std::move(type);
  values.push_back(std::move(v));
  return ValueId(values.size() - 1);
}

RegionId Function::add_region() {
  regions.emplace_back();
  return RegionId(regions.size() - 1);
}

InstrId Function::add_instruction(RegionId in, Instruction instruction) {
  const InstrId id(instructions.size());
  for (uint32_t i = 0; i < instruction.results.size(); ++i) {
    value(instruction.results[i]).defined_by = id;
    value(instruction.results[i]).result_index = i;
  }
  instructions.push_back(std::move(instruction));
  region(in).instructions.push_back(id);
  return id;
}

namespace {

void append_preorder(const Function& f, RegionId region, std::vector<InstrId>& out) {
  for (const InstrId id : f.region(region).instructions) {
    out.push_back(id);
    for (const RegionId inner : f.instr(id).regions) append_preorder(f, inner, out);
  }
}

template <class T>
auto find_named(T& list, std::string_view name) -> decltype(list.data()) {
  for (auto& item : list) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace

std::vector<InstrId> Function::preorder() const {
  std::vector<InstrId> out;
  if (body.valid()) append_preorder(*this, body, out);
  return out;
}

std::optional<ValueId> Function::find_value(std::string_view wanted) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == wanted) return ValueId(i);
  }
  return std::nullopt;
}

std::string Function::unique_name(std::string_view stem) const {
  std::string candidate(stem);
  for (int i = 1; find_value(candidate); ++i)
    candidate = std::string(stem) + "_" + std::to_string(i);
  return candidate;
}

std::vector<ValueId> operands_in_slot(const Instruction& instruction, uint8_t slot) {
  std::vector<ValueId> out;
  for (const Operand& o : instruction.operands) {
    if (o.slot == slot) out.push_back(o.value);
  }
  return out;
}

const Mesh* Program::find_mesh(std::string_view name) const { return find_named(meshes, name); }
const Machine* Program::find_machine(std::string_view name) const {
  return find_named(machines, name);
}
const Function* Program::find_function(std::string_view name) const {
  return find_named(functions, name);
}
Function* Program::find_function(std::string_view name) { return find_named(functions, name); }

Mesh& Program::add_mesh(Mesh mesh) {
  order.push_back({PieceKind::kMesh, static_cast<uint32_t>(meshes.size())});
  return meshes.emplace_back(std::move(mesh));
}
Machine& Program::add_machine(Machine machine) {
  order.push_back({PieceKind::kMachine, static_cast<uint32_t>(machines.size())});
  return machines.emplace_back(std::move(machine));
}
Function& Program::add_function(Function function) {
  order.push_back({PieceKind::kFunction, static_cast<uint32_t>(functions.size())});
  return functions.emplace_back(std::move(function));
}
TestPiece& Program::add_test(TestPiece test) {
  order.push_back({PieceKind::kTest, static_cast<uint32_t>(tests.size())});
  return tests.emplace_back(std::move(test));
}

const Function* Program::main_function() const {
  for (const Function& f : functions) {
    if (f.kind == FunctionKind::kFusion || f.kind == FunctionKind::kHost) return &f;
  }
  return nullptr;
}

}  // namespace hostir
