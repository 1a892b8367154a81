#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_reduce_max() { return {.form = CudaOp::Form::kReduction}; }

}  // namespace hostir::cuda
