#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_slice() { return {.form = CudaOp::Form::kMove}; }

}  // namespace hostir::cuda
