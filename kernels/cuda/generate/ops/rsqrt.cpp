#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_rsqrt() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_rsqrt", c); }};
}

}  // namespace hostir::cuda
