#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_pack() { return {.form = CudaOp::Form::kRelayout}; }

}  // namespace hostir::cuda
