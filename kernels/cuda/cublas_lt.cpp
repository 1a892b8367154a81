#include "kernels/cuda/cublas_lt.h"

#include "kernels/cuda/shared_library.h"

namespace hostir::cuda {
namespace {

Expected<CublasLt> open_cublas_lt() {
  HOSTIR_ASSIGN_OR_RETURN(
      SharedLibrary library,
      SharedLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}));
  CublasLt lt;
  library.bind(lt.create, "cublasLtCreate");
  library.bind(lt.destroy, "cublasLtDestroy");
  library.bind(lt.version, "cublasLtGetVersion");
  library.bind(lt.matmul, "cublasLtMatmul");
  library.bind(lt.init_desc, "cublasLtMatmulDescInit_internal");
  library.bind(lt.set_desc, "cublasLtMatmulDescSetAttribute");
  library.bind(lt.init_layout, "cublasLtMatrixLayoutInit_internal");
  library.bind(lt.set_layout, "cublasLtMatrixLayoutSetAttribute");
  library.bind(lt.init_preference, "cublasLtMatmulPreferenceInit_internal");
  library.bind(lt.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  library.bind(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  library.bind(lt.check_algorithm, "cublasLtMatmulAlgoCheck");
  library.bind(lt.set_algorithm, "cublasLtMatmulAlgoConfigSetAttribute");
  HOSTIR_TRY(library.check());
  return lt;
}

}  // namespace

const Expected<CublasLt>& cublas_lt() {
  static const Expected<CublasLt> library = open_cublas_lt();
  return library;
}

}  // namespace hostir::cuda
