#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_relu() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_relu", c); },
          .pairs = "relu2",
          .is_cheap = true,
          .epilogue = [](const Instruction&) { return CudaOp::Epilogue::kRelu; }};
}

}  // namespace hostir::cuda
