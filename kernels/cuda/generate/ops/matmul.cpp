#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_matmul() { return {.form = CudaOp::Form::kProduct, .right_rows_are_k = true}; }

}  // namespace hostir::cuda
