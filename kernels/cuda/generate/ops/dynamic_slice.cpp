#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_dynamic_slice(const IndexedCall& call) {
  const Extents& extents = call.in[0].placement->global;
  IndexedCall::Names source;
  for (size_t d = 0; d < extents.size(); ++d) source.push_back(fmt::format("(s{0} + g{0})", d));
  return call.per_element(start_lines(call, 1, extents, call.result().global) +
                          fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(),
                                      call.holds(0, source), call.element(0, source)));
}

}  // namespace

CudaOp cuda_dynamic_slice() {
  return {.form = CudaOp::Form::kIndexed, .indexed = kernel_dynamic_slice};
}

}  // namespace hostir::cuda
