#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_sub() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_sub", c); },
          .pairs = "sub2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
