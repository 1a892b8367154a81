#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_constant() { return {.form = CudaOp::Form::kConstant}; }

}  // namespace hostir::cuda
