#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_rem() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_rem", c); }};
}

}  // namespace hostir::cuda
