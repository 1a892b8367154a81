// A matrix product with the pointwise ops that follow it, piece by piece.
//
// The result is cut into pieces of columns (and of rows where columns are few); each piece is
// computed by oneDNN on one thread, in f32, into a tile that the epilogue then reads while it is in
// the cache. Cuts depend on the shape only. f64 has a loop of our own; 16-bit floats that the CPU
// cannot multiply, and operands whose strides oneDNN does not take, are copied to dense f32 first.
#pragma once

#include "kernels/cpu/step.h"
#include "kernels/cpu/tile_runner.h"

namespace hostir::cpu {

/// An operand as `[batch.., rows, columns]` seen through strides; batch strides may be 0.
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
