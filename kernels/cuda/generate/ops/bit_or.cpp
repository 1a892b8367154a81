#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_bit_or() {
  return {.lane = [](const LaneCall& c) { return c.lanes[0] + " | " + c.lanes[1]; },
          .is_cheap = true};
}

}  // namespace hostir::cuda
