#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_pow() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_pow", c); }};
}

}  // namespace hostir::cuda
