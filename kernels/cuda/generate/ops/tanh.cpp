#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_tanh() {
  return {.lane = [](const LaneCall& c) { return lane_call16("op_tanh", c); }};
}

}  // namespace hostir::cuda
