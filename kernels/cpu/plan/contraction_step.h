// A matrix product with the pointwise ops that follow it, piece by piece.
//
// The result is cut into pieces of columns (and of rows if there are few columns). oneDNN computes
// each piece on one thread, in f32, into a tile that the epilogue reads while it is in cache. Cuts
// depend only on the shape and on the size of a core's cache. f64 has its own loop. 16-bit floats
// that the CPU cannot multiply, and operands with strides that oneDNN does not accept, are first
// copied to dense f32.
#pragma once

#include "kernels/cpu/step.h"
#include "kernels/cpu/tile/tile_runner.h"

namespace hostir::cpu {

/// A strided operand `[batch.., rows, columns]`; batch strides may be 0.
struct MatrixOperand {
  StridedView view;
  DType dtype = DType::kF32;
};

struct ContractionPlan {
  Extents batch;  // leading dimensions of the result
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatrixOperand a;          // [batch.., m, k]
  MatrixOperand b;          // [batch.., k, n]
  uint32_t result = 0;      // the product itself, for the epilogue's loads
  TileProgram epilogue;     // over [batch.., m, n]; loads the product in its lane's dtype
  std::string description;  // "matmul+gelu"
};

/// For f64, f32, bf16 and f16.
std::unique_ptr<Step> make_contraction_step(ContractionPlan plan, const TileOps& ops);

}  // namespace hostir::cpu
