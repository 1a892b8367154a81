#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_broadcast_in_dim() { return {.form = CudaOp::Form::kMove}; }

}  // namespace hostir::cuda
