// A build without cuDNN's header: attention runs as its ops.
#include "kernels/cuda/attention_call.h"

namespace hostir::cuda {

Expected<std::shared_ptr<AttentionHandle>> AttentionHandle::create() {
  return fail(ErrorKind::kRuntime, "cuda_missing",
              "this build has no cuDNN: rebuild hostir where CMake can find cudnn_graph.h");
}

std::shared_ptr<const AttentionCall> AttentionCall::choose(const AttentionStep& /*step*/,
                                                           std::shared_ptr<AttentionHandle>) {
  return nullptr;
}

}  // namespace hostir::cuda
