// Finds the collectives that can be overlapped with kernels (overlap.h), and why the others
// cannot.
#pragma once

#include "hostir/passes/overlap/chunk_kernel.h"

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
  ValueId part;                 // the input of a gather, the output of a scatter
  ValueId whole;                // the output of a gather, the input of a scatter or reduction
  std::vector<size_t> dropped;  // instructions the rewrite removes, by index in the body
  size_t dim = 0;               // the dimension of `whole` that is split into rows
  int64_t outer = 1;            // the number of parts into which other axes cut `dim`
  int64_t rows = 0;             // the size of `dim` on each rank
  std::vector<int64_t> starts;  // the first row of each member's block
  std::vector<int64_t> sizes;   // the number of rows in each member's block
  bool contiguous = false;      // consecutive rows of `whole` are contiguous in memory
  IndexExpr position;           // the rank's position in the communicator
  std::string no_ring;          // why a ring is impossible; empty if it is possible
  std::vector<ChunkedLaunch> launches;

  bool is_even() const;
  /// True if all blocks but the last ones have the largest size, as when a single axis cuts the
  /// rows.
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

/// `host` must be straight-line code on one stream, as lower_to_host() builds it. Kernels that the
/// user wrote (those in `source`) are never cut. The result points into `program`.
OverlapSites find_overlap_sites(const Program& program, const Program& source,
                                const Function& host);

}  // namespace hostir
