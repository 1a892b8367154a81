#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_linear() { return {.form = CudaOp::Form::kProduct}; }

}  // namespace hostir::cuda
