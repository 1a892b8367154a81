#include <optional>

#include "kernels/cpu/plan/relayout.h"
#include "kernels/cpu/reference/reference_reduce.h"

namespace hostir::cpu {

namespace {

void fill_identity(const Placement& out, Memory memory, Reduction kind) {
  const double real = real_identity(kind, out.dtype);
  const int64_t integer = int_identity(kind, out.dtype);
  for (int64_t i = 0; i < out.box.volume(); ++i) {
    if (is_float(out.dtype)) {
      store_reals(out.dtype, memory.data, i, 1, &real);
    } else {
      store_ints(out.dtype, memory.data, i, 1, &integer);
    }
  }
}

}  // namespace

// Copies the part of the operand's box that this rank holds in the result. If the result becomes
// partial, elements that another rank holds become the identity of the reduction: all of them, or
// those beyond the operand's box.
void reference_reshard(const ReferenceCall& call) {
  const std::optional<Reduction> partial = becomes_partial(call.function, call.instruction);
  const bool fills = partial && (call.identity_only || !call.in[0]->box.contains(call.out[0]->box));
  if (fills) fill_identity(*call.out[0], call.out_data[0], *partial);
  if (partial && call.identity_only) return;
  relayout(*call.in[0], call.in_data[0], *call.out[0], call.out_data[0]);
}

}  // namespace hostir::cpu
