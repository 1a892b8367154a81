// Replaces the devices in a build without the CUDA toolkit.
#include "interp/cuda/activities.h"
#include "interp/cuda/device.h"

namespace hostir::cuda {

Expected<std::vector<std::unique_ptr<Device>>> open_cuda_devices(const std::vector<int>&,
                                                                 const RunClock&,
                                                                 const CudaDeviceOptions&) {
  return fail(ErrorKind::kRuntime, "cuda_missing",
              "this hostir was built without the CUDA toolkit, so it has no cuda backend: install "
              "CUDA 13, configure and build again; `--backend sim` runs the same program on the "
              "CPU");
}

Expected<std::shared_ptr<Activities>> Activities::open() {
  return fail(ErrorKind::kRuntime, "cupti_missing", "this hostir was built without CUDA");
}

}  // namespace hostir::cuda
