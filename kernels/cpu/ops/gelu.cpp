#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

namespace {

/// x Phi(x), with Phi computed by the error function.
double gelu_erf(double x) { return 0.5 * x * (1.0 + portable::erf(x * 0x1.6a09e667f3bcdp-1)); }

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), written without cancellation.
double gelu_tanh(double x) {
  return x * portable::sigmoid(0x1.988453a6d9a2cp+0 * (x + 0.044715 * x * x * x));
}

}  // namespace

void reference_gelu(const ReferenceCall& call) {
  const Keyword* approximate = call.instruction.attributes.get<Keyword>("approximate");
  map_unary(call, approximate && approximate->word == "tanh" ? gelu_tanh : gelu_erf);
}

}  // namespace hostir::cpu
