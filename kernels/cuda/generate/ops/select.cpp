#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_select() {
  return {
      .lane =
          [](const LaneCall& c) { return c.lanes[0] + " ? " + c.lanes[1] + " : " + c.lanes[2]; },
      .is_cheap = true};
}

}  // namespace hostir::cuda
