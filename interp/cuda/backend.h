// The backend that runs programs on CUDA devices; README.md describes the three ways to place
// ranks.
//
// Ranks on one device meet by copy and reduction kernels, others through NCCL; kernels and streams
// work the same way in both cases. A task is submitted to its stream once everything it depends on
// has been submitted; until then it is held on the host, in stream order. Times are those of CUDA
// events, on the host's clock.
// Threads: as for interp::Backend.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hostir/ir/machine.h"
#include "interp/core/backend.h"
#include "interp/cuda/device.h"
#include "interp/cuda/rendezvous.h"

namespace hostir::cuda {

/// How the ranks of one process communicate across its devices. kAuto: through NCCL, or by copies
/// where some ranks of a communicator share a device, which NCCL refuses.
enum class Transport : uint8_t { kAuto, kNccl, kCopies };

struct BackendOptions {
  std::vector<int> devices;  // that this process may use; empty: all visible ones
  Machine machine;           // for the minimum time of a kernel
  std::string place;         // --place
  Transport transport = Transport::kAuto;
  ProcessPlace process;
  int64_t timeout_ns = 60'000'000'000;  // for connecting to the other processes
  bool stepwise = false;
  /// Replays repeated loop bodies as graphs (graphs.cpp). Has no effect where every instruction
  /// finishes before the next one, and under schedules.
  bool graphs = false;
  bool kernel_times = false;   // by CUPTI, as with HOSTIR_CUDA_CUPTI=1
  bool exact_kernels = false;  // round where the CPU's kernels round
  bool coarse_times = false;   // as Backend::set_times
  /// Measures some of the tasks, and divides the time between two measurements among the tasks in
  /// between (times.cpp). Otherwise each task records events of its own.
  bool sampled_times = true;
  /// Chooses the algorithm of each matrix product by timing. Processes may then choose differently,
  /// so that the last bits of replicas may differ.
  bool timed_products = false;
  uint64_t seed = 0;
  uint64_t schedule = 0;  // > 0: seeded delays on the streams
};

/// Uses CUDA devices. Errors: `cuda_missing`, `cuda_device`.
Expected<std::unique_ptr<interp::Backend>> make_cuda_backend(const BackendOptions& options);

/// The same on given devices, for tests without a GPU: `make` is called with the clock that the
/// devices use. `clock`: by default the host's.
using MakeDevices = std::function<std::vector<std::unique_ptr<Device>>(const RunClock& clock)>;
std::unique_ptr<interp::Backend> make_device_backend(const BackendOptions& options,
                                                     const MakeDevices& make,
                                                     std::unique_ptr<RunClock> clock = nullptr);

}  // namespace hostir::cuda
