#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_shift_left() {
  return {.lane = [](const LaneCall& c) {
    return fmt::format("op_shl({}, {}, {})", c.lanes[0], c.lanes[1], 8 * size_bytes(c.out.dtype));
  }};
}

}  // namespace hostir::cuda
