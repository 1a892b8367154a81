#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_sign() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_sign", c); }, .is_cheap = true};
}

}  // namespace hostir::cuda
