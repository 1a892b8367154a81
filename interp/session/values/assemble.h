// Assembles one global tensor from the shards of all ranks.
//
// Every rank's part goes to its box. Partial values are reduced first, as collectives do: in group
// order, 16-bit types in f32 and rounded once, integers wrapping. If several ranks hold the same
// elements (replicas), those of the lowest position are used, and a disagreement is reported. A
// region of the tensor is assembled from the shards' parts inside it and is bitwise equal to that
// region of the whole.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"
#include "hostir/ir/type.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// A rank's part of a value: its box and the contents (of the requested region only).
struct ShardData {
  Rank rank = 0;
  Box box;                         // all that the rank holds
  const Tensor* tensor = nullptr;  // of `box` inside the region; null: not available
};

struct Assembled {
  Tensor tensor;  // extents of the region
  /// The first element on which replicas disagree; nullopt if there is none.
  struct Disagreement {
    Rank first = kNoRank;
    Rank second = kNoRank;
    std::vector<int64_t> index;  // global
  };
  std::optional<Disagreement> disagreement;
  std::vector<Rank> missing;  // ranks whose part is needed but not available
};

/// `type` is a tensor or shard type with its sizes bound; `shards` is indexed by rank. Elements
/// that no rank provides are zero; their ranks are in `missing`.
Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards);
/// The same for a part of the tensor: `region` in global coordinates, inside the tensor. Does not
/// detect disagreements outside the region.
/// Cost: proportional to the elements in the region.
Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards,
                   const Box& region);

/// Copies the part of `region` (inside both boxes) from one dense tensor to another.
void copy_region(const Tensor& from, const Box& from_box, Tensor& to, const Box& to_box,
                 const Box& region);

}  // namespace hostir::interp
