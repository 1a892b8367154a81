#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_roll(const IndexedCall& call) {
  const Extents& global = call.result().global;
  const size_t dim = call.dim(global.size());
  const int64_t size = std::max<int64_t>(global[dim], 1);
  const int64_t shift = call.instruction.attributes.get<IndexExpr>("shift")->value() % size;
  IndexedCall::Names source = IndexedCall::names("g", global.size());
  source[dim] = fmt::format("((g{} + {}) % {})", dim, (size - shift) % size, size);
  return call.per_element(fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(),
                                      call.holds(0, source), call.element(0, source)));
}

}  // namespace

CudaOp cuda_roll() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_roll}; }

}  // namespace hostir::cuda
