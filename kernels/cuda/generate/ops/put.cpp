#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_put(const IndexedCall& call) {
  const size_t rank = call.result().global.size();
  const size_t dim = call.dim(rank);
  const size_t count = call.in[1].placement->global.size();
  const IndexedCall::Names update = IndexedCall::names("at", rank + count - 1);
  std::vector<int> columns;  // by dimension of the updates: the result's dimension
  for (size_t d = 0; d < update.size(); ++d) {
    columns.push_back(d < dim           ? static_cast<int>(d)
                      : d < dim + count ? -1
                                        : static_cast<int>(d + 1 - count));
  }
  const auto begin = update.begin() + static_cast<std::ptrdiff_t>(dim);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  return put_kernel(call, dim, call.value(1, {begin, end}), columns);
}

}  // namespace

CudaOp cuda_put() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_put}; }

}  // namespace hostir::cuda
