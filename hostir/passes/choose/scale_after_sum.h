// Scales a product after its sum instead of its operand, where the scale is such a sum itself.
//
// Attention over cut keys divides its weights by a sum over all ranks, and the product with the
// values is then summed over the same ranks: two all_reduces, one after the other. If the product
// is divided instead, no op lies between them, and they share a call (flash decoding).
//   1. For each reshard that completes a sum, follow the result through a broadcast to a pointwise
//      op that is linear in its other operand, and on, perhaps through a cast, to a product.
//   2. The product must contract the dimensions along which the sum was repeated, and be partial
//      over the same axes. Changes of shape may follow, up to the reshard that completes it.
//   3. Contract the operand as it is, complete the product, and scale it.
//   4. Keep this if it does no more work than the completed sum took to wait for.
#pragma once

#include <span>

#include "hostir/passes/explain.h"
#include "hostir/passes/meshes/mesh_moves.h"
#include "hostir/passes/prepare/value_names.h"

namespace hostir {

/// The values in `keep` are computed as the fusion says.
void scale_after_sum(const Program& program, Function& made, MeshMoves& moves,
                     std::span<const ValueId> keep, const ValueNames& value_names,
                     Explanation& explanation);

}  // namespace hostir
