// Which instructions of a host function go, move or are padded when its sites are rewritten.
//
// A gather's collectives take the place of the original one. Its launches are done together, chunk
// by chunk, in place of the first one, if everything they read is written before that. The
// collectives of a scatter follow the launch that feeds them.
#pragma once

#include <map>
#include <set>

#include "hostir/passes/overlap/overlap.h"
#include "hostir/passes/overlap/overlap_sites.h"

namespace hostir {

/// How one site is done.
struct OverlapChoice {
  Overlap overlap = Overlap::kNone;
  int64_t pieces = 1;  // kCollectives: chunks of each block; of an all_reduce: in all
};

struct OverlapPlan {
  struct Rewrite {
    size_t site;
    std::vector<size_t> launches;  // launches of the site; empty: the collectives of a gather
  };
  std::map<size_t, std::vector<Rewrite>> rewrites;       // by index in the body
  std::set<size_t> dropped;                              // indices in the body
  std::map<size_t, std::vector<ValueId>> moved_allocs;   // launch -> allocs that move up to it
  std::map<uint32_t, std::pair<size_t, size_t>> padded;  // by value: site, dimension
  std::map<uint32_t, size_t> alloc;                      // by value: its alloc in the body
};

/// `choices` by site.
OverlapPlan plan_overlap(const Function& host, const std::vector<OverlapSite>& sites,
                         const std::vector<OverlapChoice>& choices);

/// The buffers that a launch, an index in the body, reads and writes.
std::vector<ValueId> read_by(const Function& host, size_t launch);
std::vector<ValueId> written_by(const Function& host, size_t launch);
/// The value that the launch's kernel returns as a result, and the dimension of the rows in it.
ValueId returned(const ChunkedLaunch& launch, size_t result);
size_t result_dim(const ChunkedLaunch& launch, size_t result);

/// A simplified binary expression.
IndexExpr expr_of(IndexExpr::Kind kind, IndexExpr a, IndexExpr b);
int64_t member_count(const OverlapSite& site);
/// The member whose block a rank holds after `t` steps of a ring: the one `t` places before it.
IndexExpr member_before(const OverlapSite& site, int64_t t);
/// The rows of a member's block: begin and end.
std::pair<IndexExpr, IndexExpr> block_of(const OverlapSite& site, const IndexExpr& member);
/// Where the chunk of a member starts if all chunks have the size of the largest block.
IndexExpr window(const OverlapSite& site, const IndexExpr& member);

}  // namespace hostir
