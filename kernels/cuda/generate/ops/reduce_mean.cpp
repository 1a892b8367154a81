#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_reduce_mean() {
  return {.form = CudaOp::Form::kReduction, .fold = Reduction::kSum, .is_mean = true};
}

}  // namespace hostir::cuda
