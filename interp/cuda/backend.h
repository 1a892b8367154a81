// The backend that runs programs on CUDA devices; see README.md for the three ways of placing
// ranks.
//
// Ranks of one device meet by copy and fold kernels, others through NCCL; the path of kernels and
// streams is the same. A task is handed to its stream as soon as everything it depends on has been;
// until then it is held on the host, in the order of its stream. Times are those of CUDA events on
// the host's clock. Threads: as interp::Backend says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostir/ir/machine.h"
#include "interp/core/backend.h"
#include "interp/cuda/device.h"
#include "interp/cuda/rendezvous.h"

namespace hostir::cuda {

struct BackendOptions {
  std::vector<int> devices;  // that this process may use; empty: all that it sees
  Machine machine;           // for the least time that a kernel can take
  std::string place;         // --place
  ProcessPlace process;
  int64_t timeout_ns = 60'000'000'000;  // for meeting the other processes
  bool stepwise = false;
  bool exact_kernels = false;  // round where the CPU's kernels round
  bool coarse_times = false;   // as Backend::set_times
  /// The algorithm of each matrix product by timing. Processes may then choose differently, and
  /// results of replicas differ in the last bits.
  bool timed_products = false;
  uint64_t seed = 0;
  uint64_t schedule = 0;  // > 0: seeded delays on the streams
};

/// On CUDA devices. Errors: `cuda_missing`, `cuda_device`.
Expected<std::unique_ptr<interp::Backend>> make_cuda_backend(const BackendOptions& options);

/// The same on devices that are given, for tests without a GPU: `make` is called with the clock
/// that they tell the time by.
using MakeDevices = std::vector<std::unique_ptr<Device>> (*)(const RunClock& clock);
std::unique_ptr<interp::Backend> make_device_backend(const BackendOptions& options,
                                                     MakeDevices make);

}  // namespace hostir::cuda
