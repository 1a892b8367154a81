#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_floor() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_floor", c); }, .is_cheap = true};
}

}  // namespace hostir::cuda
