#include "hostir/import/rewrite/gspmd.h"

#include "hostir/import/rewrite/tile_sharding.h"

namespace hostir::importer {

namespace {

// Visits the calls of `target` that have a tile assignment.
template <class Visit>
void each_call(ModuleBlock& block, std::string_view target, Visit visit) {
  for (ModuleOp& op : block.ops) {
    const Attr* callee = op.find("callee");
    if (callee == nullptr) callee = op.find("call_target_name");
    const Attr* tiles = op.find("mhlo.sharding");
    if (op.name == "stablehlo.custom_call" && callee != nullptr && callee->text == target &&
        tiles != nullptr && tiles->text != "{manual}") {
      visit(op, tiles->text);
    }
    for (ModuleBlock& region : op.regions) each_call(region, target, visit);
  }
}

}  // namespace

Expected<void> name_tile_shardings(Module& module) {
  if (!module.meshes.empty()) return {};
  std::vector<TileSharding> all;
  const auto collect = [&](const std::string& text) {
    if (auto tiles = parse_tile_sharding(text); tiles && !text.empty())
      all.push_back(std::move(*tiles));
  };
  for (ModuleFunction& f : module.functions) {
    for (const Port& port : f.params) collect(port.tiles);
    for (const Port& port : f.results) collect(port.tiles);
    for (const std::string_view target : {"Sharding", "SPMDShardToFullShape"})
      each_call(f.body, target, [&](ModuleOp&, const std::string& text) { collect(text); });
  }
  if (all.empty() || module.partitions < 2 || module.partitions > Mesh::kMaxPositions) return {};
  HOSTIR_ASSIGN_OR_RETURN(const Mesh mesh, mesh_for(all, module.partitions));
  module.meshes.push_back(mesh);
  const auto on_mesh = [&](const std::string& text, size_t rank) -> std::optional<Sharding> {
    const auto tiles = text.empty() ? std::nullopt : parse_tile_sharding(text);
    return tiles ? sharding_on(mesh, *tiles, rank) : std::nullopt;
  };
  for (ModuleFunction& f : module.functions) {
    for (Port& port : f.params) port.sharding = on_mesh(port.tiles, port.type.dims.size());
    for (Port& port : f.results) port.sharding = on_mesh(port.tiles, port.type.dims.size());
    each_call(f.body, "Sharding", [&](ModuleOp& op, const std::string& text) {
      if (op.results.size() != 1) return;
      auto sharding = on_mesh(text, f.type(op.results[0]).dims.size());
      if (!sharding) return;
      Attr attr;
      attr.kind = Attr::Kind::kShardings;
      attr.shardings.push_back(std::move(*sharding));
      op.name = "sdy.sharding_constraint";
      op.attributes.emplace_back("sharding", std::move(attr));
    });
    name_manual_computations(mesh, f);
  }
  return {};
}

}  // namespace hostir::importer
