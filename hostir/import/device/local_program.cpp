#include "hostir/import/device/local_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/device/host_writer.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

LocalValue LocalProgram::add(std::string name, TensorType type) {
  values.push_back({std::move(name), std::move(type)});
  return static_cast<LocalValue>(values.size() - 1);
}

namespace {

uint8_t slot_number(OpKind kind, std::string_view slot) {
  const auto& specs = record(kind).operands;
  for (size_t s = 0; s < specs.size(); ++s) {
    if (specs[s].name == slot) return static_cast<uint8_t>(s);
  }
  return 0;
}

}  // namespace

Expected<void> HostWriter::write(const std::string& name) {
  host_.kind = FunctionKind::kHost;
  host_.name = name;
  host_.mesh = world_.name;
  host_.body = host_.add_region();
  region_ = host_.body;
  declare_parameters();
  declare_handles();
  find_results();
  for (const LocalStep& step : local_.steps) count_uses(step);
  for (const LocalPort& result : local_.results) ++uses_[result.value];
  for (const LocalStep& step : local_.steps) HOSTIR_TRY(write_step(step));
  place_ = {};
  HOSTIR_TRY(write_return());
  program_.add_function(std::move(host_));
  return {};
}

InstrId HostWriter::append(OpKind kind, std::vector<Use> uses, Attributes attributes,
                           std::vector<ValueId> results) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.attributes = std::move(attributes);
  instruction.span = place_;
  for (const Use& use : uses) {
    Operand operand;
    operand.value = use.value;
    operand.slot = slot_number(kind, use.slot);
    operand.access = record(kind).operands[operand.slot].access;
    instruction.operands.push_back(std::move(operand));
  }
  std::stable_sort(instruction.operands.begin(), instruction.operands.end(),
                   [](const Operand& a, const Operand& b) { return a.slot < b.slot; });
  instruction.results = std::move(results);
  return host_.add_instruction(region_, std::move(instruction));
}

void HostWriter::declare_handles() {
  std::vector<const LocalStep*> collectives;
  const auto collect = [&](auto&& self, const std::vector<LocalStep>& steps) -> void {
    for (const LocalStep& step : steps) {
      if (step.kind == LocalStep::Kind::kCollective) collectives.push_back(&step);
      self(self, step.body);
    }
  };
  collect(collect, local_.steps);
  for (const LocalStep* step : collectives) communicator(step->groups);
  const auto declare = [&](const std::string& name) {
    const ValueId value = handle(name, StreamType{});
    Attributes attributes;
    attributes.set("name", name);
    append(OpKind::stream, {}, std::move(attributes), {value});
    return value;
  };
  compute_ = declare("compute");
  if (!collectives.empty()) comm_ = declare("comm");
}

ValueId HostWriter::communicator(const std::vector<std::vector<int64_t>>& groups) {
  const auto found = communicators_.find(groups);
  if (found != communicators_.end()) return found->second;
  Attributes attributes;
  const auto places = axes_of_groups(world_, groups);
  if (places && !places->empty()) {
    AxisList axes;
    for (const size_t place : *places) axes.push_back({world_.axes[place].name, 1, 0});
    attributes.set("axes", std::move(axes));
  } else {
    attributes.set("groups", IntLists(groups));
  }
  const ValueId value = handle(fmt::format("c{}", communicators_.size()), CommType{});
  append(OpKind::comm, {}, std::move(attributes), {value});
  communicators_.emplace(groups, value);
  return value;
}

Expected<void> HostWriter::write_step(const LocalStep& step) {
  place_ = step.place;
  switch (step.kind) {
    case LocalStep::Kind::kLaunch:
      return write_launch(step);
    case LocalStep::Kind::kCollective:
      return write_collective(step);
    case LocalStep::Kind::kWait:
      for (const LocalValue in : step.inputs) before_read(in, StreamKind::kCompute);
      for (const LocalValue in : step.inputs) used(in, StreamKind::kCompute);
      return {};
    case LocalStep::Kind::kDevice:
      return write_device(step);
    case LocalStep::Kind::kLoop:
      return write_loop(step);
  }
  return {};
}

Expected<void> HostWriter::write_launch(const LocalStep& step) {
  const StreamKind on = StreamKind::kCompute;
  std::vector<Use> uses = {{"stream", compute_}};
  for (const LocalValue in : step.inputs) {
    before_read(in, on);
    uses.push_back({"reads", view_of(in)});
  }
  for (const LocalValue out : step.outputs) {
    make_buffer(out, on);
    before_write(out, on);
    uses.push_back({"writes", view_of(out)});
  }
  Attributes attributes;
  attributes.set("kernel", Symbol{step.kernel});
  const InstrId launch = append(OpKind::launch, std::move(uses), std::move(attributes), {});
  accessed(step, launch, on, "done");
  finish_step(step, on);
  return {};
}

Expected<void> HostWriter::write_collective(const LocalStep& step) {
  const StreamKind on = StreamKind::kComm;
  for (const LocalValue in : step.inputs) {
    before_read(in, on);
    view_of(in);
  }
  for (const LocalValue out : step.outputs) {
    make_buffer(out, on);
    before_write(out, on);
  }
  const bool several = step.inputs.size() > 1;
  const RegionId outer = region_;
  InstrId last;
  if (several) {  // a call on several tensors becomes one group: one issue, one event
    Instruction group;
    group.kind = OpKind::group;
    group.regions.push_back(host_.add_region());
    last = host_.add_instruction(region_, std::move(group));
    region_ = host_.instr(last).regions.front();
  }
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const InstrId one = append(step.op,
                               {{"comm", communicators_.at(step.groups)},
                                {"input", view_of(step.inputs[i])},
                                {"output", view_of(step.outputs[i])},
                                {"stream", comm_}},
                               step.attributes, {});
    if (!several) last = one;
  }
  region_ = outer;
  accessed(step, last, on, "sent");
  finish_step(step, on);
  return {};
}

Expected<void> HostWriter::write_device(const LocalStep& step) {
  if (!world_.device_ids.empty()) {
    return fail(
        ErrorKind::kInvalid, "import_c8",
        "device numbers on a mesh with device_ids have no counterpart; drop the device_ids");
  }
  const LocalValue out = step.outputs.front();
  BufferState& s = state_[out];
  ShardType type;
  type.dtype = local_.values[out].type.dtype;
  type.shape = {IndexExpr(world_.size())};
  type.sharding->mesh = world_.name;
  type.sharding->dims.resize(1);
  for (const MeshAxis& axis : world_.axes) type.sharding->dims[0].axes.push_back({axis.name, 1, 0});
  s.owned = true;
  s.buffer = allocated("ranks", type, StreamKind::kCompute);
  Attributes attributes;
  attributes.set("kernel", Symbol{step.kernel});
  const InstrId launch = append(OpKind::launch, {{"writes", s.buffer}, {"stream", compute_}},
                                std::move(attributes), {});
  accessed(step, launch, StreamKind::kCompute, "done");
  s.view = reinterpreted(s.buffer, local_.values[out]);
  finish_step(step, StreamKind::kCompute);
  return {};
}

std::string HostWriter::copy_kernel(const TensorType& type) {
  const std::string key = to_string(Type(type));
  const auto found = copies_.find(key);
  if (found != copies_.end()) return found->second;
  Function kernel;
  kernel.kind = FunctionKind::kKernel;
  kernel.name = fmt::format("{}.copy{}", host_.name, copies_.size());
  kernel.body = kernel.add_region();
  const ValueId x = kernel.add_value("x", type);
  const ValueId y = kernel.add_value("y", type);
  kernel.params.push_back({x, false});
  kernel.results.push_back({"y", type, std::nullopt, {}});
  Instruction same;
  same.kind = OpKind::reshape;
  same.attributes.set("shape", ExprList(type.shape.begin(), type.shape.end()));
  Operand operand;
  operand.value = x;
  same.operands = {operand};
  same.results = {y};
  kernel.add_instruction(kernel.body, std::move(same));
  Instruction end;
  end.kind = OpKind::return_;
  operand.value = y;
  end.operands = {operand};
  kernel.add_instruction(kernel.body, std::move(end));
  copies_.emplace(key, kernel.name);
  program_.add_function(std::move(kernel));
  return copies_.at(key);
}

Expected<void> HostWriter::write_return() {
  std::vector<Use> uses;
  std::set<LocalValue> returned;
  for (const LocalPort& port : local_.results) {
    BufferState& s = state_[port.value];
    ValueId buffer = s.buffer;
    const bool same_type = buffer.valid() && host_.value(buffer).type == Type(port.type);
    if (!s.owned || !same_type || !returned.insert(port.value).second) {
      buffer = copied_result(port);
    }
    uses.push_back({"values", buffer});
    ResultDecl declared;
    declared.name = port.name;
    declared.type = port.type;
    host_.results.push_back(std::move(declared));
  }
  append(OpKind::return_, std::move(uses), {}, {});
  return {};
}

ValueId HostWriter::copied_result(const LocalPort& port) {
  before_read(port.value, StreamKind::kCompute);
  const ValueId buffer =
      allocated(port.name.empty() ? "result" : port.name, port.type, StreamKind::kCompute);
  const ValueId view = reinterpreted(buffer, local_.values[port.value]);
  Attributes attributes;
  attributes.set("kernel", Symbol{copy_kernel(local_.values[port.value].type)});
  append(OpKind::launch, {{"reads", view_of(port.value)}, {"writes", view}, {"stream", compute_}},
         std::move(attributes), {});
  used(port.value, StreamKind::kCompute);
  return buffer;
}

std::optional<std::vector<size_t>> axes_of_groups(const Mesh& mesh,
                                                  std::vector<std::vector<int64_t>> groups) {
  const size_t count = mesh.axes.size();
  if (count > 16) return std::nullopt;
  std::sort(groups.begin(), groups.end());
  for (uint32_t set = 0; set < (1u << count); ++set) {
    std::vector<size_t> places;
    AxisList axes;
    for (size_t a = 0; a < count; ++a) {
      if ((set >> a & 1u) == 0) continue;
      places.push_back(a);
      axes.push_back({mesh.axes[a].name, 1, 0});
    }
    auto have = groups_over(mesh, axes);
    std::sort(have.begin(), have.end());
    if (have == groups) return places;
  }
  return std::nullopt;
}

Expected<void> write_host(const LocalProgram& local, const std::string& name, const Mesh& world,
                          Program& program) {
  const Mesh copy = world;  // copied because adding functions may move the program's pieces
  return HostWriter(local, copy, program).write(name);
}

}  // namespace hostir::importer
