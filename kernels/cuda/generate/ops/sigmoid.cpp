#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_sigmoid() {
  return {.lane = [](const LaneCall& c) { return lane_call16("op_sigmoid", c); }};
}

}  // namespace hostir::cuda
