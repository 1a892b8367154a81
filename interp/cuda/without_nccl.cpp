// Replaces the network in a build without NCCL's header.
#include "interp/cuda/network.h"

namespace hostir::cuda {

Expected<std::unique_ptr<Network>> make_nccl_network(const NetworkSetup&) {
  return fail(ErrorKind::kRuntime, "nccl_missing",
              "this hostir was built without NCCL, so ranks on several devices or in several "
              "processes cannot meet: install NCCL 2.28, configure and build again; all ranks in "
              "one process on one device need none");
}

}  // namespace hostir::cuda
