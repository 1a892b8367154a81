#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_shift_right() {
  return {.lane = [](const LaneCall& c) {
    const int64_t bytes = size_bytes(c.out.dtype);
    const bool in_an_int = is_unsigned(c.out.dtype) && bytes < 4;
    return fmt::format("{}({}, {}, {})", in_an_int ? "op_shr_unsigned" : "op_shr", c.lanes[0],
                       c.lanes[1], 8 * bytes);
  }};
}

}  // namespace hostir::cuda
