#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_minimum() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_min", c); },
          .pairs = "min2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
