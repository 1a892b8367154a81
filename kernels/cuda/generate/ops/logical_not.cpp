#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_logical_not() {
  return {.lane = [](const LaneCall& c) { return c.lanes[0] + " == 0"; }, .is_cheap = true};
}

}  // namespace hostir::cuda
