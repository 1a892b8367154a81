// Overlaps collectives with the kernels that feed or use them, by cutting both into chunks.
//
// Sites: an all_gather whose result only kernels with a matrix product read, row by row
// (chunk_kernel.h); a reduce_scatter or all_reduce of partial sums that one such kernel writes. The
// rows are the dimension that the collective gathers or scatters; for an all_reduce, the outermost
// one. A site is done in one of two ways:
//
//   collectives  The chunks are the blocks of the ranks, or equal pieces of them. An
//                all_gather becomes a broadcast per chunk, a reduce_scatter a reduce to the rank
//                that keeps the chunk, an all_reduce one per chunk. Every value is computed and
//                added up in the same order as before.
//   ring         Each rank passes blocks to
//                its neighbour (permute), one fewer than there are ranks, and meanwhile
//                multiplies the block that it has. For a reduce_scatter the block of partial sums
//                travels and each rank adds its own: the addends of block r are added in the
//                order r+1, r+2, ..., r, each sum rounded to the dtype. An all_reduce has no
//                ring.
//
//   1. Find the sites; for every other collective, record why it cannot be overlapped.
//   2. Decide one site after the other. Rewrite each in every way. `auto` takes the way with
//      which the whole function is expected to end first: launches, collectives (task_times.h) and
//      the host's issue time on two engines. Equal sites are decided once.
//   3. Rewrite. Each chunk has its own buffer; what is written in parts is written through
//      views. The collective's packing and unpacking are dropped, because a block needs none. Later
//      users of one gather move up to the first one if they can, so that each chunk is used at
//      once. In an uneven ring all chunks have the size of the largest block. An all_gather pads:
//      the rows that do not exist come last and are cut off. A reduce_scatter moves the last
//      windows up until they fit. The function stays straight-line on one stream, as the later
//      passes need it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/passes/explain.h"
#include "hostir/passes/host/lower_host.h"

namespace hostir {

enum class Overlap : uint8_t { kNone, kCollectives, kRing, kAuto };
/// `none`, `collectives`, `ring`, `auto`; nullopt: another word.
std::optional<Overlap> overlap_named(std::string_view word);

struct OverlapRequest {
  const Program& source;  // kernels of this program are the user's and stay
  const Machine& machine;
  Overlap overlap = Overlap::kNone;
  /// The fusion value that a collective produces, for the explanation.
  ValueNamer value_of;
};

/// When the function, on one stream, is expected to end on two engines; on one stream or several.
double expected_ns(const Program& program, const Function& host, const Machine& machine);

/// Rewrites the host function `host` of `program`, and the kernels that it launches. Instructions
/// that write a buffer in parts have no Origin.
void overlap_collectives(Program& program, const std::string& host, const OverlapRequest& request,
                         Explanation& explanation);

}  // namespace hostir
