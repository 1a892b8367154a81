#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

std::string lane_uniform(const LaneCall& c) {
  const double lo = c.instruction.attributes.get_or<double>("lo", 0);
  const double hi = c.instruction.attributes.get_or<double>("hi", 1);
  return fmt::format("{} + {} * (double){}", literal(DType::kF64, lo),
                     literal(DType::kF64, hi - lo), c.lanes[0]);
}

}  // namespace

CudaOp cuda_uniform() { return {.lane = lane_uniform, .extra = CudaOp::Extra::kRandom}; }

}  // namespace hostir::cuda
