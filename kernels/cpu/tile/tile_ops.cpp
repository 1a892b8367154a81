#include "kernels/cpu/tile/tile_ops.h"

#include <cmath>

#include "hostir/support/float16.h"
#include "kernels/cpu/portable_math.h"

namespace hostir::cpu {

const TileOps& tile_ops_baseline();
const TileOps& tile_ops_avx2();
const TileOps& tile_ops_avx512();

const TileOps& tile_ops(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return tile_ops_baseline();
    case Isa::kAvx2:
      return tile_ops_avx2();
    case Isa::kAvx512:
      return tile_ops_avx512();
  }
  return tile_ops_baseline();
}

// The tables call these one element at a time, because they must not include the headers.
uint16_t scalar_float_to_f16(float x) { return float_to_f16(x); }
float scalar_f16_to_float(uint16_t bits) { return f16_to_float(bits); }
double exact_sqrt(double x) { return std::sqrt(x); }
double exact_rsqrt(double x) { return 1.0 / std::sqrt(x); }
double exact_silu(double x) { return x * portable::sigmoid(x); }
double exact_gelu_erf(double x) { return portable::gelu_erf(x); }
double exact_gelu_tanh(double x) { return portable::gelu_tanh(x); }

}  // namespace hostir::cpu
