// Converts StableHLO's gather and scatter to `take` and `put`.
//
// Both have the same dimension numbers: the operand dimensions that an index vector addresses, the
// size of the moved window, the window dimensions that are dropped, and the places of the others in
// the windows' tensor (the result of a gather, the updates of a scatter).
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

struct IndexingNumbers {
  std::vector<int64_t> window;         // window dimensions of the windows' tensor
  std::vector<int64_t> dropped;        // operand dimensions of window size 1 that are dropped
  std::vector<int64_t> operand_batch;  // operand dimensions paired with `index_batch`
  std::vector<int64_t> index_batch;    // dimensions of the indices
  std::vector<int64_t> map;            // operand dimension of each component of an index vector
  int64_t vector_dim = 0;      // dimension of the indices with the vector; may equal their rank
  std::vector<int64_t> sizes;  // window size per operand dimension
};

Expected<IndexingNumbers> gather_numbers(const OpSite& site);
Expected<IndexingNumbers> scatter_numbers(const OpSite& site);

/// Gathers windows of x. Indices are clamped so that windows are in bounds.
Expected<Known> gathered(Emitter& e, const Known& x, const Known& indices,
                         const IndexingNumbers& n);
/// Scatters updates into `base`. `mode` is as in `scatter_mode`; windows that are not wholly in
/// bounds are dropped.
Expected<Known> scattered(Emitter& e, const Known& base, const Known& indices, const Known& updates,
                          const IndexingNumbers& n, std::string mode);

/// Scatters along `dim` by comparing every update with every place: "mul", "max" or "min". `along`:
/// one index per update; otherwise the updates have the indices' dimensions in place of `dim`.
/// Errors: `import_c8` too many pairs.
Expected<Known> combined_into(Emitter& e, bool along, const Known& updates, const Known& indices,
                              const Known& base, size_t dim, const std::string& mode);
/// How the region of a scatter combines: "set", "add", "sub", "mul", "max" or "min"; nullopt if
/// otherwise.
std::optional<std::string> scatter_mode(const OpSite& site);

}  // namespace hostir::importer
