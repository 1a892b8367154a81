#include <fmt/core.h>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

// Float to integer truncates and saturates, NaN becomes 0; integers wrap; to i1 is `!= 0`. Integers
// are converted to 16- and 8-bit floats through double, with successive roundings, as on the CPU.
std::string lane_cast(const LaneCall& c) {
  const std::string& x = c.lanes[0];
  const DType to = c.out.dtype;
  if (c.instruction.attributes.get_or<bool>("bits", false))
    return fmt::format("of_bits<{}>(bits_of<{}>({}))", name(to), name(c.in), x);
  if (to == DType::kI1) return x + " != 0";
  if (is_float(c.in) && !is_float(to)) return fmt::format("to_{}({})", name(to), x);
  if (to == DType::kF64) return fmt::format("(double)({})", x);
  if (is_float(to)) {
    return size_bytes(c.in) == 8 && !is_float(c.in) ? fmt::format("(float)(double)({})", x)
                                                    : fmt::format("(float)({})", x);
  }
  return fmt::format("({}::reg)({})", name(to), x);
}

}  // namespace

CudaOp cuda_cast() { return {.lane = lane_cast, .is_cheap = true}; }

}  // namespace hostir::cuda
