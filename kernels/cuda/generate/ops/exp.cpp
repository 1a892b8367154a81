#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_exp() {
  return {.lane = [](const LaneCall& c) { return lane_call16("op_exp", c); }};
}

}  // namespace hostir::cuda
