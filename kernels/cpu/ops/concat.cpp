#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

void reference_concat(const ReferenceCall& call) {
  const auto dim = static_cast<size_t>(call.instruction.attributes.get_or<int64_t>("dim", 0));
  int64_t start = 0;
  for (size_t operand = 0; operand < call.in.size(); ++operand) {
    const int64_t extent = call.in[operand]->global[dim];
    Box part = Box::whole(call.out[0]->global);
    part.lo[dim] = start;
    part.hi[dim] = start + extent;
    gather(call, operand, part.intersect(call.out[0]->box), [&](const auto& index, auto& source) {
      source = index;
      source[dim] -= start;
    });
    start += extent;
  }
}

}  // namespace hostir::cpu
