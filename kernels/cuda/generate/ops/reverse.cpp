#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_reverse(const IndexedCall& call) {
  IndexedCall::Names source = IndexedCall::names("g", call.result().global.size());
  for (const int64_t dim : call.instruction.attributes.get_or<IntList>("dims", {})) {
    const auto d = static_cast<size_t>(dim);
    source[d] = fmt::format("({} - g{})", call.result().global[d] - 1, d);
  }
  return call.per_element(fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(),
                                      call.holds(0, source), call.element(0, source)));
}

}  // namespace

CudaOp cuda_reverse() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_reverse}; }

}  // namespace hostir::cuda
