#include "kernels/cpu/portable_math.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void reference_gelu(const ReferenceCall& call) {
  const Keyword* approximate = call.instruction.attributes.get<Keyword>("approximate");
  map_unary(call,
            approximate && approximate->word == "tanh" ? portable::gelu_tanh : portable::gelu_erf);
}

}  // namespace hostir::cpu
