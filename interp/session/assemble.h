// One global tensor from the shards of all ranks.
//
// Every rank's part goes to its box. Partial values are folded first: in group order, 16-bit types
// in f32 and rounded once, integers wrapping, as collectives do. Where several ranks hold the same
// elements (replicas) the lowest position's are taken, and a disagreement is reported. A part of
// the tensor is made from those parts of the shards that lie in it, and has the bits of the whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"
#include "hostir/ir/type.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// What one rank holds of a value: its box and the contents, or of them what is asked for.
struct ShardData {
  Rank rank = 0;
  Box box;                         // all that the rank holds
  const Tensor* tensor = nullptr;  // of `box` inside the region; null: not available
};

struct Assembled {
  Tensor tensor;  // extents of the region
  /// The first element that replicas hold differently, or nothing.
  struct Disagreement {
    Rank first = kNoRank;
    Rank second = kNoRank;
    std::vector<int64_t> index;  // global
  };
  std::optional<Disagreement> disagreement;
  std::vector<Rank> missing;  // ranks whose part was needed and is not available
};

/// `type` is a tensor or shard with its sizes bound; `shards` by rank. Elements that nobody has are
/// zero and their ranks are in `missing`.
Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards);
/// The same for a part of the tensor: `region` in global coordinates, inside the tensor.
/// Disagreements outside of it are not seen. Cost: that of the elements in it.
Assembled assemble(const Program& program, const Type& type, const std::vector<ShardData>& shards,
                   const Box& region);

/// Copies the part of `region` (inside both boxes) from one dense tensor to another.
void copy_region(const Tensor& from, const Box& from_box, Tensor& to, const Box& to_box,
                 const Box& region);

/// `into = fold(into, next)` element by element. 16-bit floats must have been widened to f32.
void fold_into(Tensor& into, const Tensor& next, Reduction kind);

/// `[1, 2]`.
std::string index_to_string(const std::vector<int64_t>& index);

}  // namespace hostir::interp
