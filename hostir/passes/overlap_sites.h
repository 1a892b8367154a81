// Finds the collectives that can run at the same time as kernels (overlap.h), and says why the
// others cannot.
#pragma once

#include "hostir/passes/chunk_kernel.h"
#include "hostir/passes/lower_host.h"

namespace hostir {

/// A launch that is split into chunks.
struct ChunkedLaunch {
  size_t at = 0;  // index in the body
  const Function* kernel = nullptr;
  KernelRows rows;
};

struct OverlapSite {
  enum class Kind : uint8_t { kGather, kScatter, kReduce };
  Kind kind = Kind::kGather;
  size_t at = 0;                // the collective: index in the body
  ValueId part;                 // what a rank sends to the gather, or gets from the scatter
  ValueId whole;                // all rows: gathered, or partial
  std::vector<size_t> dropped;  // packing, unpacking, and allocs, by index in the body
  size_t dim = 0;               // of `whole`
  int64_t outer = 1;            // parts into which other axes cut it
  int64_t rows = 0;             // on each rank, in `whole`
  std::vector<int64_t> starts;  // of the members' blocks among these
  std::vector<int64_t> sizes;
  bool contiguous = false;  // a range of rows of `whole` is a range of memory
  IndexExpr position;       // of the rank in the communicator
  std::string no_ring;      // why there is no ring; empty if there is
  std::vector<ChunkedLaunch> launches;

  bool is_even() const;
  /// True if all blocks but the last are equally large: no axis cuts uneven blocks of another one.
  bool is_cut_once() const;
  int64_t largest() const;
};

struct RefusedSite {
  size_t at = 0;
  std::string problem;
};

struct OverlapSites {
  std::vector<OverlapSite> sites;
  std::vector<RefusedSite> refused;
};

/// `host` is straight-line, on one stream, as lower_to_host() builds it. Kernels of `source` are
/// never cut. The result points into `program`.
OverlapSites find_overlap_sites(const Program& program, const Program& source,
                                const Function& host);

}  // namespace hostir
