#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_silu() {
  return {.lane = [](const LaneCall& c) { return lane_call16("op_silu", c); }};
}

}  // namespace hostir::cuda
