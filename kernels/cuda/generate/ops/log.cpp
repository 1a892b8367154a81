#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_log() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_log", c); }};
}

}  // namespace hostir::cuda
