#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_erf() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_erf", c); }};
}

}  // namespace hostir::cuda
