// cuBLASLt, loaded when the first compiler is created: linking it would add milliseconds to every
// start of the program.
#pragma once

#include <cublasLt.h>

#include "hostir/support/expected.h"

namespace hostir::cuda {

struct CublasLt {
  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtDestroy)* destroy = nullptr;
  decltype(cublasLtGetVersion)* version = nullptr;
  decltype(cublasLtMatmul)* matmul = nullptr;
  decltype(cublasLtMatmulDescInit_internal)* init_desc = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* set_desc = nullptr;
  decltype(cublasLtMatrixLayoutInit_internal)* init_layout = nullptr;
  decltype(cublasLtMatrixLayoutSetAttribute)* set_layout = nullptr;
  decltype(cublasLtMatmulPreferenceInit_internal)* init_preference = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* set_preference = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* heuristic = nullptr;
  decltype(cublasLtMatmulAlgoCheck)* check_algorithm = nullptr;
  decltype(cublasLtMatmulAlgoConfigSetAttribute)* set_algorithm = nullptr;
};

/// Errors: `cuda_missing`.
const Expected<CublasLt>& cublas_lt();

}  // namespace hostir::cuda
