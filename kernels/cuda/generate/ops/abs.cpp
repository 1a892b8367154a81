#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_abs() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_abs", c); },
          .pairs = "abs2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
