#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_logical_and() {
  return {.lane = [](const LaneCall& c) { return c.lanes[0] + " != 0 && " + c.lanes[1] + " != 0"; },
          .is_cheap = true};
}

}  // namespace hostir::cuda
