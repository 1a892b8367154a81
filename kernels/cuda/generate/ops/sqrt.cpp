#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_sqrt() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_sqrt", c); }};
}

}  // namespace hostir::cuda
