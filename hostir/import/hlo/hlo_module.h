// Converts HLO instructions to operations of a `Module` with StableHLO's names, attributes and
// regions, so that the same handlers emit them.
//
// Tuples disappear: a tuple is the list of its leaves. Computations used by fusions and calls
// become functions; reducers, comparators, and loop and branch bodies become regions. Operations
// that exist only in HLO have `hlo.` names: `hlo.bitcast` (with both layouts) and `hlo.done` (the
// end of an asynchronous operation whose start has the attribute `async`).
#pragma once

#include "hostir/import/hlo/hlo_text.h"

namespace hostir::importer {

struct HloEntry {
  std::vector<std::string> shardings;  // per parameter leaf, as text; may be empty
  std::string root_sharding;
  int64_t partitions = 1;
};

struct HloModule {
  Module module;  // the entry computation is its first public function
  HloEntry entry;
};

Expected<HloModule> convert_hlo(const HloText& text);

}  // namespace hostir::importer
