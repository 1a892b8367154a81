#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_mul() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_mul", c); },
          .pairs = "mul2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
