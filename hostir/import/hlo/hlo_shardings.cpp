#include "hostir/import/hlo/hlo_shardings.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/build_fusion.h"

namespace hostir::importer {

namespace {

void note(ImportReport& report, std::string message) {
  report.notes.push_back({Severity::kNote, "import_layout", std::move(message), {}, {}});
}

// `result 1, %sum`, as messages name it.
std::string result_name(const HloModule& hlo, size_t r) {
  const ModuleFunction& entry = hlo.module.functions.front();
  return fmt::format("result {}, %{}", r, entry.values[entry.body.ops.back().operands[r]].name);
}

tl::unexpected<Error> wrong_result(const HloModule& hlo, std::string message) {
  return fail_at(ErrorKind::kInvalid, "import_c8", std::move(message),
                 hlo.module.functions.front().body.ops.back().span);
}

// The shardings of the parameters; a parameter without one is whole on every device.
Expected<std::vector<TileSharding>> param_tiles(const HloModule& hlo) {
  std::vector<TileSharding> out;
  const auto& params = hlo.module.functions.front().params;
  for (size_t p = 0; p < params.size(); ++p) {
    const std::string& text = hlo.entry.shardings[p];
    auto tile = parse_tile_sharding(text.empty() ? "{replicated}" : text);
    if (!tile)
      return fail_at(ErrorKind::kInvalid, "import_c8",
                     "sharding=" + text + " is in a form that cannot be read", params[p].span);
    out.push_back(std::move(*tile));
  }
  return out;
}

// The shardings in the text of the results; empty if it has none.
Expected<std::vector<TileSharding>> written_shardings(const HloModule& hlo, size_t results) {
  std::vector<TileSharding> out;
  const std::string& text = hlo.entry.root_sharding;
  if (text.empty()) return out;
  const auto elements = element_shardings(text, results);
  if (elements.size() != results)
    return wrong_result(hlo, fmt::format("sharding={} of the ROOT instruction is not a sharding "
                                         "for each of its {} results",
                                         text, results));
  for (size_t r = 0; r < results; ++r) {
    auto tile = parse_tile_sharding(elements[r]);
    if (!tile)
      return wrong_result(hlo, fmt::format("sharding={} of {} is in a form that cannot be read",
                                           elements[r], result_name(hlo, r)));
    out.push_back(std::move(*tile));
  }
  return out;
}

// A mesh with the axes of the parameters' shardings and, if compatible, those of the results'
// shardings.
Expected<Mesh> mesh_of_all(const HloModule& hlo, const std::vector<TileSharding>& params,
                           const std::vector<TileSharding>& results) {
  const auto& ports = hlo.module.functions.front().params;
  std::vector<TileSharding> all = params;
  all.insert(all.end(), results.begin(), results.end());
  auto mesh = mesh_for(all, hlo.entry.partitions);
  bool fits = mesh.has_value();
  for (size_t p = 0; p < params.size() && fits; ++p)
    fits = sharding_on(*mesh, params[p], ports[p].type.dims.size()).has_value();
  return fits ? mesh : mesh_for(params, hlo.entry.partitions);
}

}  // namespace

Expected<EntryTiles> read_entry_tiles(const HloModule& hlo) {
  EntryTiles out;
  HOSTIR_ASSIGN_OR_RETURN(out.params, param_tiles(hlo));
  const size_t results = hlo.module.functions.front().results.size();
  HOSTIR_ASSIGN_OR_RETURN(out.results, written_shardings(hlo, results));
  HOSTIR_ASSIGN_OR_RETURN(out.mesh, mesh_of_all(hlo, out.params, out.results));
  for (MeshAxis& axis : out.mesh.axes) axis.name = plain_name(axis.name, "a");
  return out;
}

Expected<Sharding> param_sharding(const HloModule& hlo, size_t p, const EntryTiles& tiles) {
  const Port& port = hlo.module.functions.front().params[p];
  auto sharding = sharding_on(tiles.mesh, tiles.params[p], port.type.dims.size());
  if (sharding) return std::move(*sharding);
  return fail_at(ErrorKind::kInvalid, "import_c8",
                 "sharding=" + hlo.entry.shardings[p] +
                     " does not match the mesh that the other shardings use",
                 port.span);
}

Expected<Sharding> result_sharding(const HloModule& hlo, size_t r, const GuessedLayout& guess,
                                   const EntryTiles& tiles, ImportReport& report) {
  const std::string name = result_name(hlo, r);
  if (r < tiles.results.size()) {
    auto sharding = sharding_on(tiles.mesh, tiles.results[r], guess.sharding.dims.size());
    if (sharding) return std::move(*sharding);
    return wrong_result(hlo, "the sharding of " + name +
                                 " does not match the mesh that the parameters' shardings use");
  }
  if (!guess.gaps.empty())
    note(report, fmt::format("{}: in the order of the parameters, {}, the major part first; no "
                             "sharding expresses this, so devices' parts follow one another",
                             name, guess.gaps));
  return guess.sharding;
}

ShardType global_of(const TensorType& local, Sharding sharding, const Mesh& mesh) {
  ShardType out;
  out.dtype = local.dtype;
  out.shape = local.shape;
  for (size_t d = 0; d < out.shape.size(); ++d) {
    int64_t parts = 1;
    for (const AxisRef& axis : sharding.dims[d].axes) parts *= mesh.axis_size(axis);
    out.shape[d] = IndexExpr(out.shape[d].simplified().value() * parts);
  }
  out.sharding = std::move(sharding);
  return out;
}

void note_layouts(const LocalProgram& local, ImportReport& report) {
  std::string list;
  for (size_t r = 0; r < local.results.size(); ++r) {
    const Sharding& sharding = *local.results[r].type.sharding;
    if (std::any_of(sharding.dims.begin(), sharding.dims.end(),
                    [](const DimSharding& dim) { return !dim.axes.empty(); }))
      list += fmt::format("{}{} as {}", list.empty() ? "" : ", ", r, sharding.dims_to_string());
  }
  if (list.empty()) return;
  note(report,
       "the text does not say how its results are put together; from the parameters' shardings: " +
           list);
}

}  // namespace hostir::importer
