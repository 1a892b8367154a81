#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_take_along(const IndexedCall& call) {
  const IndexedCall::Names index = IndexedCall::names("g", call.result().global.size());
  IndexedCall::Names source = index;
  source[call.dim(index.size())] = "at";
  return call.per_element(fmt::format("  const i64t at = (i64t){};\n", call.value(1, index)) +
                          fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(),
                                      call.holds(0, source), call.element(0, source)));
}

}  // namespace

CudaOp cuda_take_along() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_take_along}; }

}  // namespace hostir::cuda
