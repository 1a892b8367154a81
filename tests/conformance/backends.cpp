#include "backends.h"

#include <fnmatch.h>

#include "interp/cuda/backend.h"
#include "interp/null/null_backend.h"
#include "interp/sim/sim_backend.h"

namespace hostir::conformance {

namespace {

std::unique_ptr<interp::Backend> make_null() { return std::make_unique<interp::NullBackend>(); }

std::unique_ptr<interp::Backend> make_sim() {
  sim::SimOptions options;
  options.kernels = cpu::KernelSet::kReference;
  options.threads = 1;
  return sim::make_sim_backend(options);
}

// The cuda backend on a device without a GPU: queues, rendezvous and transfers are the same.
std::vector<std::unique_ptr<cuda::Device>> host_devices(const cuda::RunClock& clock) {
  std::vector<std::unique_ptr<cuda::Device>> out;
  out.push_back(cuda::make_host_device(0, clock, int64_t{1} << 40));
  return out;
}
std::unique_ptr<interp::Backend> make_cuda_on_host() {
  return cuda::make_device_backend({}, host_devices);
}

// A device on which events complete some time after they were recorded, as on a GPU, and which does
// not measure times.
std::vector<std::unique_ptr<cuda::Device>> late_devices(const cuda::RunClock& clock) {
  std::vector<std::unique_ptr<cuda::Device>> out;
  out.push_back(cuda::make_host_device(0, clock, int64_t{1} << 40, 5));
  return out;
}
std::unique_ptr<interp::Backend> make_cuda_late() {
  return cuda::make_device_backend({}, late_devices);
}
std::unique_ptr<interp::Backend> make_cuda_late_exact() {
  cuda::BackendOptions options;
  options.sampled_times = false;
  return cuda::make_device_backend(options, late_devices);
}
std::unique_ptr<interp::Backend> make_cuda_late_coarse() {
  cuda::BackendOptions options;
  options.coarse_times = true;
  return cuda::make_device_backend(options, late_devices);
}

// Three devices of one process: ranks meet by copies between devices, some of them on a device that
// they share.
std::unique_ptr<interp::Backend> make_cuda_on_devices(int event_lag) {
  cuda::BackendOptions options;
  options.devices = {0, 1, 2};
  options.transport = cuda::Transport::kCopies;
  return cuda::make_device_backend(options, [event_lag](const cuda::RunClock& clock) {
    std::vector<std::unique_ptr<cuda::Device>> out;
    for (int d = 0; d < 3; ++d) {
      out.push_back(cuda::make_host_device(d, clock, int64_t{1} << 40, event_lag));
    }
    return out;
  });
}
std::unique_ptr<interp::Backend> make_cuda_on_three() { return make_cuda_on_devices(0); }
std::unique_ptr<interp::Backend> make_cuda_on_three_late() { return make_cuda_on_devices(5); }

// Repeated loop bodies are captured and replayed.
std::unique_ptr<interp::Backend> make_cuda_graphs() {
  cuda::BackendOptions options;
  options.coarse_times = true;
  options.graphs = true;
  return cuda::make_device_backend(options, late_devices);
}

std::unique_ptr<interp::Backend> make_cuda_graphs_logged() {
  cuda::BackendOptions options;
  options.graphs = true;
  return cuda::make_device_backend(options, late_devices);
}

// On a GPU, if there is one.
std::unique_ptr<interp::Backend> make_cuda_with(bool graphs, cuda::Transport transport) {
  cuda::BackendOptions options;
  options.transport = transport;
  options.exact_kernels = true;
  options.graphs = graphs;
  options.coarse_times = graphs;
  auto made = cuda::make_cuda_backend(options);
  return made ? std::move(*made) : nullptr;
}
std::unique_ptr<interp::Backend> make_cuda() {
  return make_cuda_with(false, cuda::Transport::kAuto);
}
std::unique_ptr<interp::Backend> make_cuda_with_graphs() {
  return make_cuda_with(true, cuda::Transport::kAuto);
}
std::unique_ptr<interp::Backend> make_cuda_copies() {
  return make_cuda_with(false, cuda::Transport::kCopies);
}

constexpr Exception kNullExceptions[] = {
    {"values_*", "has no data: every read gives zeros"},
    {"refusal_*", "has neither kernels nor memory, so there is nothing that it cannot do"},
};

// Those on a GPU are last, so that the others are a prefix of the list.
constexpr size_t kOnGpu = 3;
constexpr BackendUnderTest kBackends[] = {
    {"sim", make_sim, {}},
    {"null", make_null, kNullExceptions},
    {"cuda_on_host", make_cuda_on_host, {}},
    {"cuda_on_host_late", make_cuda_late, {}},
    {"cuda_on_host_late_exact", make_cuda_late_exact, {}},
    {"cuda_on_host_late_coarse", make_cuda_late_coarse, {}},
    {"cuda_on_host_devices", make_cuda_on_three, {}},
    {"cuda_on_host_devices_late", make_cuda_on_three_late, {}},
    {"cuda_on_host_graphs", make_cuda_graphs, {}},
    {"cuda_on_host_graphs_logged", make_cuda_graphs_logged, {}},
    {"cuda", make_cuda, {}},
    {"cuda_graphs", make_cuda_with_graphs, {}},
    {"cuda_copies", make_cuda_copies, {}},
};

}  // namespace

std::span<const BackendUnderTest> backends() {
  static const bool has_gpu = make_cuda() != nullptr;
  return std::span(kBackends).first(std::size(kBackends) - (has_gpu ? 0 : kOnGpu));
}

const Exception* exception_for(const BackendUnderTest& backend, const char* case_name) {
  for (const Exception& exception : backend.exceptions) {
    if (fnmatch(exception.pattern, case_name, 0) == 0) return &exception;
  }
  return nullptr;
}

}  // namespace hostir::conformance
