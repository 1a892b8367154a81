// The shardings of a scheduled HLO module's parameters and results, on one mesh.
//
// The text assigns tiles to devices and names no axes, and often says nothing about the results:
// their layouts are guessed then, and the import says so.
#pragma once

#include <vector>

#include "hostir/import/device/local_program.h"
#include "hostir/import/emit/emitter.h"
#include "hostir/import/hlo/hlo_module.h"
#include "hostir/import/layout/layout_guess.h"
#include "hostir/import/rewrite/tile_sharding.h"

namespace hostir::importer {

/// What the text says about the entry computation.
struct EntryTiles {
  std::vector<TileSharding> params;
  std::vector<TileSharding> results;  // empty if the text has none
  Mesh mesh;  // has the axes of the parameters and, if compatible, those of the results
};

/// Errors: `import_c8` if a sharding cannot be read or no mesh has the axes of all parameters.
Expected<EntryTiles> read_entry_tiles(const HloModule& hlo);

Expected<Sharding> param_sharding(const HloModule& hlo, size_t p, const EntryTiles& tiles);

/// The sharding of a result: from the text if it has one, else the guessed one. JAX's results have
/// no gaps, so a guess with gaps means that shard_map concatenated the devices' parts.
Expected<Sharding> result_sharding(const HloModule& hlo, size_t r, const GuessedLayout& guess,
                                   const EntryTiles& tiles, ImportReport& report);

/// The shard type for a local shape under a sharding.
ShardType global_of(const TensorType& local, Sharding sharding, const Mesh& mesh);

/// Notes the results whose layouts were guessed: those that are cut across devices.
void note_layouts(const LocalProgram& local, ImportReport& report);

}  // namespace hostir::importer
