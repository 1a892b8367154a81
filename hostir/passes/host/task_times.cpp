#include "hostir/passes/host/task_times.h"

#include <algorithm>

#include "hostir/ops/kernel_time.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/redistribute/redistribute_cost.h"

namespace hostir {

Extents largest_box(const Mesh& mesh, const Shape& shape, const Sharding& sharding) {
  Extents out;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Sharding one{sharding.mesh, {sharding.dims[d]}, {}, Reduction::kSum, {}};
    out.push_back(static_cast<int64_t>(largest_local_elems(mesh, {shape[d]}, one)));
  }
  return out;
}

TaskTimes::TaskTimes(const Program& program, const Function& host, const Machine& machine)
    : program_(program), host_(host), machine_(machine) {
  for (const Function& f : program.functions) {
    if (f.kind == FunctionKind::kKernel) kernels_.emplace(f.name, &f);
  }
}

Extents TaskTimes::local_extents(const Type& type) const {
  const Shape& shape = shape_of(type);
  const Sharding* sharding = sharding_of(type);
  const Mesh* mesh = sharding != nullptr ? program_.find_mesh(sharding->mesh) : nullptr;
  if (mesh != nullptr) return largest_box(*mesh, shape, *sharding);
  return largest_box(Mesh(), shape, Sharding::replicated({}, shape.size()));
}

double TaskTimes::local_bytes(const Type& type) const {
  auto bytes = static_cast<double>(size_bytes(dtype_of(type)));
  for (const int64_t n : local_extents(type)) bytes *= static_cast<double>(n);
  return bytes;
}

double TaskTimes::launch_ns(const Instruction& launch) {
  const std::string& name = launch.attributes.get<Symbol>("kernel")->name;
  const auto [at, is_new] = known_.try_emplace(name, machine_.launch_ns);
  if (!is_new) return at->second;
  const auto kernel = kernels_.find(name);
  if (kernel != kernels_.end()) at->second += kernel_ns(*kernel->second);
  return at->second;
}

double TaskTimes::kernel_ns(const Function& kernel) const {
  KernelTime time(machine_);
  double bytes = 0;
  for (const InstrId id : kernel.preorder()) {
    const Instruction& i = kernel.instr(id);
    const OpRecord& op = record(i.kind);
    if (op.cost == nullptr) continue;
    std::vector<Extents> in;
    std::vector<Extents> out;
    for (const Operand& o : i.operands) {
      if (o.value.valid()) in.push_back(local_extents(kernel.value(o.value).type));
    }
    for (const ValueId r : i.results) out.push_back(local_extents(kernel.value(r).type));
    const BoundCall bound(program_, kernel, i);
    const bool is_product = op.shape == OpShape::kContraction && !bound.operands.empty();
    time.add(op.cost(bound.call, in, out).flops,
             is_product ? std::optional(dtype_of(bound.operands[0])) : std::nullopt);
  }
  const MovedValues moved = moved_values(kernel);
  for (const ValueId v : moved.read) bytes += local_bytes(kernel.value(v).type);
  for (const ValueId v : moved.written) bytes += local_bytes(kernel.value(v).type);
  return time.expected_ns(bytes);
}

const GroupPlace& TaskTimes::place_of(ValueId comm) {
  const auto [at, is_new] = places_.try_emplace(comm.index);
  if (!is_new) return at->second;
  const Instruction& made = host_.instr(host_.value(comm).defined_by);
  std::vector<int64_t> group;
  if (const auto* groups = made.attributes.get<IntLists>("groups")) {
    group = groups->front();
  } else {
    const auto* mesh = made.attributes.get<Symbol>("mesh");
    const Mesh* over = program_.find_mesh(mesh != nullptr ? mesh->name : host_.mesh);
    group = groups_over(*over, *made.attributes.get<AxisList>("axes")).front();
  }
  at->second = place_group(machine_, std::vector<int32_t>(group.begin(), group.end()));
  return at->second;
}

TaskTimes::Collective TaskTimes::collective(const Instruction& i) {
  Collective out;
  for (const Operand& o : i.operands) {
    if (o.value.valid() && o.access != Access::kUse) {
      out.bytes = std::max(out.bytes, local_bytes(host_.value(o.value).type));
    }
  }
  const GroupPlace& place = place_of(slot_value(i, "comm"));
  out.ns = collective_ns(machine_, i.kind, out.bytes, place);
  out.latency_ns = collective_ns(machine_, i.kind, 0, place);
  return out;
}

}  // namespace hostir
