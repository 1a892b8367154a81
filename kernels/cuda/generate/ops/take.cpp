#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

// A position outside x, or outside this rank's part of x, gives 0.
IndexedKernel kernel_take(const IndexedCall& call) {
  const size_t rank = call.in[0].placement->global.size();
  const size_t dim = call.dim(rank);
  const size_t count = call.in[1].placement->global.size();
  const IndexedCall::Names index = IndexedCall::names("g", call.result().global.size());
  const auto begin = index.begin() + static_cast<std::ptrdiff_t>(dim);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  IndexedCall::Names source(index.begin(), begin);
  source.emplace_back("at");
  source.insert(source.end(), end, index.end());
  return call.per_element(
      fmt::format("  const i64t at = (i64t){};\n", call.value(1, {begin, end})) +
      fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(), call.holds(0, source),
                  call.element(0, source)));
}

}  // namespace

CudaOp cuda_take() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_take}; }

}  // namespace hostir::cuda
