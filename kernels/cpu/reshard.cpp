#include <optional>

#include "kernels/cpu/reference_reduce.h"
#include "kernels/cpu/relayout.h"

namespace hostir::cpu {

namespace {

void fill_identity(const Placement& out, Memory memory, Reduction kind) {
  const double real = real_identity(kind);
  const int64_t integer = int_identity(kind, out.dtype);
  for (int64_t i = 0; i < out.box.volume(); ++i) {
    if (is_float(out.dtype)) {
      store_reals(out.dtype, memory.data, i, 1, &real);
    } else {
      store_ints(out.dtype, memory.data, i, 1, &integer);
    }
  }
}

const Sharding* sharding_of_value(const Function* function, ValueId id) {
  return function != nullptr && id.valid() ? sharding_of(function->value(id).type) : nullptr;
}

}  // namespace

std::optional<Reduction> becomes_partial(const Function* function, const Instruction& reshard) {
  const Sharding* result = sharding_of_value(function, reshard.results[0]);
  const Sharding* operand = sharding_of_value(function, reshard.operands[0].value);
  if (!result || !result->is_partial()) return std::nullopt;
  if (operand && operand->unreduced == result->unreduced) return std::nullopt;
  return result->unreduced_kind;
}

// Copies the part of the operand's box that this rank holds afterwards. Replicated to partial keeps
// the value at the root and puts the identity of the reduction elsewhere.
void reference_reshard(const ReferenceCall& call) {
  const std::optional<Reduction> partial = becomes_partial(call.function, call.instruction);
  if (partial && !call.is_partial_root) {
    fill_identity(*call.out[0], call.out_data[0], *partial);
  } else {
    relayout(*call.in[0], call.in_data[0], *call.out[0], call.out_data[0]);
  }
}

}  // namespace hostir::cpu
