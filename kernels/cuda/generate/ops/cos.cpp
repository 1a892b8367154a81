#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_cos() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_cos", c); }};
}

}  // namespace hostir::cuda
