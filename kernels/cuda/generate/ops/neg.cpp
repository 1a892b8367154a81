#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_neg() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_neg", c); },
          .pairs = "neg2",
          .is_cheap = true};
}

}  // namespace hostir::cuda
