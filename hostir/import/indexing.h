// gather and scatter of StableHLO as `take` and `put`.
//
// Both share their numbers: which operand dimensions an index vector addresses, how large the
// window is that is moved, which of its dimensions are dropped, and where the others stand in the
// windows' tensor (the result of a gather, the updates of a scatter).
#pragma once

#include "hostir/import/emitter.h"

namespace hostir::importer {

struct IndexingNumbers {
  std::vector<int64_t> window;   // dimensions of the windows' tensor that are window dimensions
  std::vector<int64_t> dropped;  // operand dimensions whose window size is 1 and that are left out
  std::vector<int64_t> operand_batch;  // operand dimensions walked with `index_batch`
  std::vector<int64_t> index_batch;    // dimensions of the indices, pairwise
  std::vector<int64_t> map;            // operand dimensions of the components of an index vector
  int64_t vector_dim = 0;      // dimension of the indices that holds the vector; may be their rank
  std::vector<int64_t> sizes;  // of the window, per operand dimension
};

Expected<IndexingNumbers> gather_numbers(const OpSite& site);
Expected<IndexingNumbers> scatter_numbers(const OpSite& site);

/// Indices are moved so that windows lie within x.
Expected<Known> gathered(Emitter& e, const Known& x, const Known& indices,
                         const IndexingNumbers& n);
/// `mode` is "add" or "set"; elements outside x are dropped.
Expected<Known> scattered(Emitter& e, const Known& base, const Known& indices, const Known& updates,
                          const IndexingNumbers& n, std::string mode);

}  // namespace hostir::importer
