#include "hostir/import/device/build_manual.h"

#include <algorithm>

#include "hostir/import/build_fusion.h"
#include "hostir/import/device/device_ops.h"
#include "hostir/import/device/local_program.h"
#include "hostir/import/rewrite/tile_sharding.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

const ModuleOp* manual_computation(const ModuleFunction& entry) {
  for (const ModuleOp& op : entry.body.ops) {
    if (op.name == "sdy.manual_computation") return &op;
  }
  return nullptr;
}

bool is_constant_op(const ModuleOp& op) {
  return op.name == "stablehlo.constant" || op.name == "stablehlo.broadcast_in_dim";
}

const Attr* shardings_of(const ModuleOp& op, std::string_view name, size_t count) {
  const Attr* attr = op.find(name);
  return attr != nullptr && attr->shardings.size() == count ? attr : nullptr;
}

bool has_nested_manual(const ModuleBlock& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const ModuleOp& op) {
    return op.name == "sdy.manual_computation" || op.name.starts_with("sdy.sharding") ||
           std::any_of(op.regions.begin(), op.regions.end(), has_nested_manual);
  });
}

// The mesh used by all its shardings, if every axis of more than one device is manual.
const Mesh* manual_mesh(const Module& module, const ModuleOp& manual) {
  std::string name;
  for (const std::string_view list : {"in_shardings", "out_shardings"}) {
    const Attr* attr = manual.find(list);
    if (attr == nullptr) return nullptr;
    for (const Sharding& sharding : attr->shardings) {
      if (name.empty()) name = sharding.mesh;
      if (sharding.mesh != name || sharding.is_partial()) return nullptr;
    }
  }
  const Mesh* mesh = module.find_mesh(name);
  const Attr* axes = manual.find("manual_axes");
  if (mesh == nullptr || axes == nullptr) return nullptr;
  for (const MeshAxis& axis : mesh->axes) {
    const bool is_manual_axis =
        std::any_of(axes->items.begin(), axes->items.end(),
                    [&](const Attr& item) { return item.text == axis.name; });
    if (!is_manual_axis && axis.size > 1) return nullptr;
  }
  return mesh;
}

ShardType shard_type(const TensorType& global, Sharding sharding, const std::string& mesh) {
  ShardType out;
  out.dtype = global.dtype;
  out.shape = global.shape;
  out.sharding = std::move(sharding);
  out.sharding->mesh = mesh;
  out.sharding->pinned.clear();  // nothing propagates here
  for (DimSharding& dim : out.sharding->dims) dim.open = false;
  return out;
}

// True if every rank's box has the shape of the local type.
bool fits(const Mesh& mesh, const ShardType& shard, const TensorType& local) {
  const auto extents = constant_extents(shard.shape);
  const auto wanted = constant_extents(local.shape);
  if (!extents || !wanted || extents->size() != shard.sharding->dims.size()) return false;
  for (const DimSharding& dim : shard.sharding->dims) {
    for (const AxisRef& axis : dim.axes) {
      if (!has_axis(mesh, axis)) return false;
    }
  }
  for (const Box& box : shard_boxes(mesh, *shard.sharding, *extents)) {
    if (box.extents() != *wanted) return false;
  }
  return true;
}

tl::unexpected<Error> misfit(const ModuleOp& manual, const std::string& what) {
  return fail_at(ErrorKind::kInvalid, "import_c2",
                 "sdy.manual_computation: " + what + " does not fit its local type and sharding",
                 manual.span);
}

}  // namespace

bool is_manual(const Module& module, const ModuleFunction& entry) {
  const ModuleOp* manual = manual_computation(entry);
  if (manual == nullptr || manual->regions.size() != 1 || manual_mesh(module, *manual) == nullptr)
    return false;
  if (has_nested_manual(manual->regions.front())) return false;
  for (const ModuleOp& op : entry.body.ops) {
    if (&op == manual || is_constant_op(op)) continue;
    if (op.name != "func.return") return false;
    for (const ValueNumber value : op.operands) {
      if (!contains(manual->results, value)) return false;
    }
  }
  // Each parameter must be used once, so that it can have the layout of that use.
  for (size_t i = 0; i < manual->operands.size(); ++i) {
    const ValueNumber value = manual->operands[i];
    const auto& params = entry.body.arguments;
    const bool is_param = contains(params, value);
    const bool twice = std::count(manual->operands.begin(), manual->operands.end(), value) > 1;
    const bool constant =
        std::any_of(entry.body.ops.begin(), entry.body.ops.end(), [&](const ModuleOp& op) {
          return is_constant_op(op) && op.results == std::vector<ValueNumber>{value};
        });
    if ((!is_param && !constant) || (is_param && twice)) return false;
  }
  return true;
}

Expected<void> build_manual(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report) {
  const ModuleOp& manual = *manual_computation(entry);
  const Mesh* theirs = manual_mesh(module, manual);
  Function flat;
  flat.kind = FunctionKind::kKernel;
  Emitter emitter(module, program, flat, report);
  const Mesh* mesh = emitter.mesh_of(Sharding::replicated(theirs->name, 0));
  if (mesh == nullptr)
    return fail_at(ErrorKind::kInvalid, "import_c8",
                   "a manual computation on a mesh of one device has no counterpart", manual.span);
  const Mesh world = *mesh;
  const std::string name = plain_name(module.name, "main");
  DeviceOps devices(world, name + ".step");
  emitter.set_device_hook([&](const OpSite& site) { return devices.take(site); });

  const ModuleBlock& body = manual.regions.front();
  const Attr* in = shardings_of(manual, "in_shardings", manual.operands.size());
  const Attr* out = shardings_of(manual, "out_shardings", manual.results.size());
  if (in == nullptr || out == nullptr || body.arguments.size() != manual.operands.size()) {
    return misfit(manual, "the number of shardings");
  }
  LocalProgram local;
  std::vector<std::optional<LocalValue>> numbers;
  Frame frame(entry.values.size());
  // Parameters that the computation does not use stay parameters.
  for (size_t p = 0; p < entry.params.size(); ++p) {
    const ValueNumber value = entry.body.arguments[p];
    const Port& port = entry.params[p];
    HOSTIR_ASSIGN_OR_RETURN(const TensorType global, our_type(port.type, port.span));
    const auto at =
        std::find(manual.operands.begin(), manual.operands.end(), value) - manual.operands.begin();
    const bool taken = static_cast<size_t>(at) < manual.operands.size();
    const ModuleType& local_module_type =
        taken ? entry.type(body.arguments[static_cast<size_t>(at)]) : port.type;
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(local_module_type, port.span));
    const Sharding layout = taken ? in->shardings[static_cast<size_t>(at)]
                                  : Sharding::replicated(world.name, global.shape.size());
    ShardType shard = shard_type(global, layout, world.name);
    if (!fits(world, shard, type)) return misfit(manual, "parameter " + std::to_string(p));
    const Known known = emitter.parameter(entry.values[value].name, local_module_type, type);
    const LocalValue number = local.add(entry.values[value].name, type);
    numbers.resize(flat.values.size());
    numbers[known.value.index] = number;
    local.params.push_back({entry.values[value].name, number, std::move(shard)});
    if (taken) frame[body.arguments[static_cast<size_t>(at)]] = known;
  }
  // Move constants into the computation. The sharding of a splat does not matter; any other
  // constant must be whole on every device.
  Frame outside(entry.values.size());
  ModuleBlock constants;
  for (const ModuleOp& op : entry.body.ops) {
    if (is_constant_op(op)) constants.ops.push_back(op);
  }
  ModuleOp end;
  end.name = "func.return";
  constants.ops.push_back(end);
  HOSTIR_TRY(emitter.block(entry, constants, outside));
  for (size_t i = 0; i < manual.operands.size(); ++i) {
    if (frame[body.arguments[i]]) continue;
    const auto& constant = outside[manual.operands[i]];
    if (!constant || !constant->is_number() ||
        !(constant->splat || constant->type == entry.type(body.arguments[i]))) {
      return misfit(manual, "operand " + std::to_string(i));
    }
    Known here = *constant;
    here.value = ValueId();
    here.type = entry.type(body.arguments[i]);
    frame[body.arguments[i]] = std::move(here);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto results, emitter.block(entry, body, frame));
  if (results.size() != manual.results.size()) return misfit(manual, "the number of results");
  std::vector<ValueId> returned;
  for (const Known& result : results) {
    HOSTIR_ASSIGN_OR_RETURN(const ValueId value, emitter.materialise(result));
    returned.push_back(value);
  }
  HOSTIR_TRY(devices.cut(flat, returned, program, local, numbers));
  const ModuleOp& last = entry.body.ops.back();
  if (last.name != "func.return")
    return fail_at(
        ErrorKind::kInvalid, "import_c2",
        "@" + entry.name + " does not end with a return of its manual computation's results",
        manual.span);
  for (size_t r = 0; r < last.operands.size(); ++r) {
    const auto at = static_cast<size_t>(
        std::find(manual.results.begin(), manual.results.end(), last.operands[r]) -
        manual.results.begin());
    HOSTIR_ASSIGN_OR_RETURN(const TensorType global,
                            our_type(entry.type(last.operands[r]), manual.span));
    ShardType shard = shard_type(global, out->shardings[at], world.name);
    const LocalValue number = *numbers[returned[at].index];
    if (!fits(world, shard, local.values[number].type))
      return misfit(manual, "result " + std::to_string(r));
    local.results.push_back({"", number, std::move(shard)});
  }
  return write_host(local, name, world, program);
}

}  // namespace hostir::importer
