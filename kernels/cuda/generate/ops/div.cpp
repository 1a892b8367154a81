#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_div() {
  return {.lane = [](const LaneCall& c) {
    return lane_call(c.out.dtype == DType::kBF16 ? "op_div_bf16" : "op_div", c);
  }};
}

}  // namespace hostir::cuda
