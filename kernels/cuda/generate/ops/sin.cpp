#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_sin() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_sin", c); }};
}

}  // namespace hostir::cuda
