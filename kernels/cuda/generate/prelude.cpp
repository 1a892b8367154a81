#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

std::string_view kernel_prelude() {
  static constexpr std::string_view kTypes =
#include "kernels/cuda/generate/prelude.inc"
      ;
  static constexpr std::string_view kMath =
#include "kernels/cuda/generate/prelude_math.inc"
      ;
  static const std::string text = std::string(kTypes) + std::string(kMath);
  return text;
}

}  // namespace hostir::cuda
