#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

std::string lane_iota(const LaneCall& c) {
  if (!is_float(c.out.dtype)) {
    return fmt::format("({}::reg)({})", name(c.out.dtype), c.lanes[0]);
  }
  return fmt::format("(double)({})", c.lanes[0]);
}

}  // namespace

CudaOp cuda_iota() { return {.lane = lane_iota, .extra = CudaOp::Extra::kIndex}; }

}  // namespace hostir::cuda
