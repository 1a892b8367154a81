#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_reshard() { return {.form = CudaOp::Form::kMove}; }

}  // namespace hostir::cuda
