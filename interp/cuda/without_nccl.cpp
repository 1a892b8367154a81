// Replaces the network in a build without NCCL's header.
#include "interp/cuda/network.h"

namespace hostir::cuda {

Expected<std::unique_ptr<Network>> make_nccl_network(const NetworkSetup&) {
  return fail(
      ErrorKind::kRuntime, "nccl_missing",
      "this hostir was built without NCCL, so ranks on several devices or in several "
      "processes cannot communicate: install NCCL 2.28 and build again, or run all ranks in "
      "one process, on one device or with --transport copies");
}

}  // namespace hostir::cuda
