#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_add() {
  return {.lane = [](const LaneCall& c) { return lane_call("op_add", c); },
          .pairs = "add2",
          .is_cheap = true,
          .epilogue = [](const Instruction&) { return CudaOp::Epilogue::kAdd; }};
}

}  // namespace hostir::cuda
