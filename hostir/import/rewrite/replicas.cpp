#include "hostir/import/rewrite/replicas.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostir::importer {

namespace {

constexpr const char* kReplica = "replica";

// There is one partition per replica, so the number of the replica is that of the device.
void number_devices(ModuleBlock& block) {
  for (ModuleOp& op : block.ops) {
    if (op.name == "stablehlo.replica_id") {
      op.name = "stablehlo.partition_id";
    } else if (op.name == "stablehlo.partition_id") {
      op.name = "stablehlo.replica_id";
    }
    for (ModuleBlock& region : op.regions) number_devices(region);
  }
}

class Replicas {
 public:
  Replicas(ModuleFunction& entry, const Mesh& mesh) : f_(entry), mesh_(mesh) {}

  void rewrite() {
    ModuleOp manual;
    manual.name = "sdy.manual_computation";
    manual.span = f_.span;
    Attr in;
    Attr out;
    in.kind = out.kind = Attr::Kind::kShardings;
    ModuleBlock body = std::move(f_.body);
    ModuleOp end = body.ops.empty() ? ModuleOp() : std::move(body.ops.back());
    if (!body.ops.empty()) body.ops.pop_back();
    f_.body = {};
    for (size_t i = 0; i < body.arguments.size(); ++i) {
      Port& port = f_.params[i];
      ValueNumber& local = body.arguments[i];
      if (!port.same_on_replicas && port.type.dims.empty()) local = as_row(body, local);
      in.shardings.push_back(sharding_of(port.type, port.same_on_replicas));
      const ValueNumber whole = add_value(f_.values[local].name, global_type(port));
      port.type = f_.type(whole);
      f_.body.arguments.push_back(whole);
      manual.operands.push_back(whole);
    }
    for (size_t r = 0; r < end.operands.size() && r < f_.results.size(); ++r) {
      Port& port = f_.results[r];
      if (port.type.dims.empty()) {
        const ValueNumber row = add_value("", tensor_type(port.type.element, {1}));
        body.ops.push_back(reshape(end.operands[r], row));
        end.operands[r] = row;
      }
      out.shardings.push_back(sharding_of(port.type, false));
      port.type = global_type(port);
      manual.results.push_back(add_value("", port.type));
    }
    ModuleOp returned = end;
    returned.operands = manual.results;
    end.name = "sdy.return";
    body.ops.push_back(std::move(end));
    Attr axes;
    axes.kind = Attr::Kind::kList;
    axes.items.push_back(Attr::of_word(kReplica));
    manual.attributes.emplace_back("in_shardings", std::move(in));
    manual.attributes.emplace_back("out_shardings", std::move(out));
    manual.attributes.emplace_back("manual_axes", std::move(axes));
    manual.regions.push_back(std::move(body));
    f_.body.ops.push_back(std::move(manual));
    f_.body.ops.push_back(std::move(returned));
    count_uses(f_);
  }

 private:
  // Makes a scalar one element of a vector with an element per replica. Returns that element.
  ValueNumber as_row(ModuleBlock& body, ValueNumber scalar) {
    const ModuleValue& value = f_.values[scalar];
    const ValueNumber row = add_value(value.name, tensor_type(value.type.element, {1}));
    body.ops.insert(body.ops.begin(), reshape(row, scalar));
    return row;
  }

  ModuleOp reshape(ValueNumber from, ValueNumber to) {
    ModuleOp op;
    op.name = "stablehlo.reshape";
    op.span = f_.span;
    op.operands = {from};
    op.results = {to};
    return op;
  }

  ModuleType global_type(const Port& port) const {
    ModuleType type = port.type;
    if (port.same_on_replicas || !type.is_tensor()) return type;
    if (type.dims.empty()) type.dims.push_back(1);
    type.dims.front() *= mesh_.size();
    return type;
  }

  Sharding sharding_of(const ModuleType& type, bool same) const {
    Sharding out = Sharding::replicated(
        mesh_.name, same ? type.dims.size() : std::max<size_t>(1, type.dims.size()));
    if (!same) out.dims.front().axes = {AxisRef{kReplica}};
    return out;
  }

  ValueNumber add_value(std::string name, ModuleType type) {
    f_.values.push_back({std::move(name), std::move(type), f_.span, 0});
    return static_cast<ValueNumber>(f_.values.size() - 1);
  }

  ModuleFunction& f_;
  const Mesh& mesh_;
};

}  // namespace

Expected<void> write_out_replicas(Module& module, std::string_view name) {
  if (module.replicas <= 1) return {};
  const auto entry = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const ModuleFunction& f) { return f.name == name; });
  const auto refuse = [&](const std::string& why) {
    return fail_at(ErrorKind::kInvalid, "import_c8",
                   fmt::format("mhlo.num_replicas = {}: {}", module.replicas, why), entry->span);
  };
  if (module.replicas > Mesh::kMaxPositions)
    return refuse(fmt::format("a module is for at most {} devices", Mesh::kMaxPositions));
  if (module.partitions > 1 || !module.meshes.empty())
    return refuse(
        "replicas of a module that is itself partitioned are not supported; use jit with "
        "shardings, or shard_map, over all devices");
  if (entry->body.ops.empty() || entry->body.ops.back().name != "func.return")
    return refuse("@" + entry->name + " does not end with a return");
  Mesh mesh;
  mesh.name = "replicas";
  mesh.axes = {{kReplica, module.replicas}};
  for (ModuleFunction& function : module.functions) number_devices(function.body);
  Replicas(*entry, mesh).rewrite();
  module.meshes.push_back(std::move(mesh));
  return {};
}

}  // namespace hostir::importer
