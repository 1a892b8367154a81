#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

// Compares in double: the rate need not be representable in f32.
std::string lane_dropout(const LaneCall& c) {
  const double rate = c.instruction.attributes.get_or<double>("rate", 0.5);
  double scale = 1.0 / (1.0 - rate);
  if (c.out.dtype != DType::kF64) scale = static_cast<double>(static_cast<float>(scale));
  return fmt::format("(double){} >= {} ? {} * {} : {}", c.lanes[1], literal(DType::kF64, rate),
                     c.lanes[0], literal(c.out.dtype, scale), literal(c.out.dtype, 0.0));
}

}  // namespace

CudaOp cuda_dropout() { return {.lane = lane_dropout, .extra = CudaOp::Extra::kRandom}; }

}  // namespace hostir::cuda
