#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

namespace {

// The preprocessor quotes code as one line; people read the text of kernels.
std::string wrapped(std::string_view code) {
  std::string out;
  for (size_t i = 0; i < code.size(); ++i) {
    out += code[i];
    if (code[i] == ';' || code[i] == '{' || code[i] == '}') out += '\n';
  }
  return out + "\n";
}

}  // namespace

std::string_view kernel_prelude() {
  static constexpr std::string_view kHead =
      "// Prelude of generated kernels: element types, vectors of elements in registers, memory, "
      "math, folds.\n"
      "// Compiled without contraction (--fmad=false): every op rounds as it does on the CPU.\n"
      "namespace hk {\n\n"
      "#define HOSTIR_FLOAT8_FUNCTION inline\n";
#define HOSTIR_FLOAT8(...) #__VA_ARGS__
  static constexpr std::string_view kFloat8 =
#include "hostir/support/float8.inc"
      ;
#undef HOSTIR_FLOAT8
  static constexpr std::string_view kTypes =
#include "kernels/cuda/generate/prelude.inc"
      ;
  static constexpr std::string_view kMath =
#include "kernels/cuda/generate/prelude_math.inc"
      ;
  static const std::string text =
      std::string(kHead) + wrapped(kFloat8) + std::string(kTypes) + std::string(kMath);
  return text;
}

}  // namespace hostir::cuda
