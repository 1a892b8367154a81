#include "kernels/cuda/cudnn.h"

#include "kernels/cuda/shared_library.h"

namespace hostir::cuda {
namespace {

Expected<Cudnn> open_cudnn() {
  HOSTIR_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::open({"libcudnn.so.9"}));
  Cudnn functions;
  library.bind(functions.create, "cudnnCreate");
  library.bind(functions.destroy, "cudnnDestroy");
  library.bind(functions.set_stream, "cudnnSetStream");
  library.bind(functions.create_descriptor, "cudnnBackendCreateDescriptor");
  library.bind(functions.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.bind(functions.set, "cudnnBackendSetAttribute");
  library.bind(functions.get, "cudnnBackendGetAttribute");
  library.bind(functions.finalize, "cudnnBackendFinalize");
  library.bind(functions.execute, "cudnnBackendExecute");
  HOSTIR_TRY(library.check());
  return functions;
}

}  // namespace

const Expected<Cudnn>& cudnn() {
  static const Expected<Cudnn> library = open_cudnn();
  return library;
}

}  // namespace hostir::cuda
