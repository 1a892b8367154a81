// cuDNN's graph interface, loaded with the first attention: opening it takes tens of milliseconds.
#pragma once

#include <cudnn_graph.h>

#include "hostir/support/expected.h"

namespace hostir::cuda {

struct Cudnn {
  decltype(cudnnCreate)* create = nullptr;
  decltype(cudnnDestroy)* destroy = nullptr;
  decltype(cudnnSetStream)* set_stream = nullptr;
  decltype(cudnnBackendCreateDescriptor)* create_descriptor = nullptr;
  decltype(cudnnBackendDestroyDescriptor)* destroy_descriptor = nullptr;
  decltype(cudnnBackendSetAttribute)* set = nullptr;
  decltype(cudnnBackendGetAttribute)* get = nullptr;
  decltype(cudnnBackendFinalize)* finalize = nullptr;
  decltype(cudnnBackendExecute)* execute = nullptr;
};

/// Errors: `cuda_missing`.
const Expected<Cudnn>& cudnn();

}  // namespace hostir::cuda
