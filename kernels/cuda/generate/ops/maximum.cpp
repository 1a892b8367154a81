#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_maximum() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_max", c); },
          .pairs = "max2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
