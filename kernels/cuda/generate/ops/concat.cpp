#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_concat() { return {.form = CudaOp::Form::kConcat}; }

}  // namespace hostir::cuda
