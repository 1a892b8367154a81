#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

CudaOp cuda_take() {
  return {.form = CudaOp::Form::kNone, .missing = "the generator has no form for it yet"};
}

}  // namespace hostir::cuda
