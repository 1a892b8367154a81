#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_bit_not() {
  return {.lane =
              [](const LaneCall& c) {
                return c.out.dtype == DType::kI1 ? c.lanes[0] + " == 0" : "~" + c.lanes[0];
              },
          .is_cheap = true};
}

}  // namespace hostir::cuda
