#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_put_along(const IndexedCall& call) {
  const size_t rank = call.result().global.size();
  const size_t dim = call.dim(rank);
  std::vector<int> columns;
  for (size_t d = 0; d < rank; ++d) columns.push_back(d == dim ? -1 : static_cast<int>(d));
  return put_kernel(call, dim, call.value(1, IndexedCall::names("at", rank)), columns);
}

}  // namespace

CudaOp cuda_put_along() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_put_along}; }

}  // namespace hostir::cuda
