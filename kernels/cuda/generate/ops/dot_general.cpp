#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_dot_general() { return {.form = CudaOp::Form::kProduct, .has_any_dims = true}; }

}  // namespace hostir::cuda
