#include "hostir/api/open/backends.h"

#include <cstdlib>

#include "interp/cuda/backend.h"
#include "interp/cuda/kernel_listing.h"
#include "interp/null/null_backend.h"
#include "interp/sim/sim_backend.h"
#include "kernels/cpu/kernel.h"

namespace hostir::api {

namespace {

using interp::BackendRequest;
using interp::BackendTraits;
using interp::ClockDomain;
using MadeBackend = Expected<std::unique_ptr<interp::Backend>>;

sim::SimOptions sim_options(const BackendRequest& request) {
  sim::SimOptions options;
  options.machine = request.machine;
  options.seed = request.seed;
  options.schedule = request.schedule;
  options.delays = request.delays;
  options.kernels = request.reference_kernels ? cpu::KernelSet::kReference : cpu::KernelSet::kFast;
  return options;
}

MadeBackend make_sim(const BackendRequest& request) {
  return sim::make_sim_backend(sim_options(request));
}

MadeBackend make_shapes(const BackendRequest& request) {
  sim::SimOptions options = sim_options(request);
  options.values = sim::SimOptions::Values::kNone;
  return sim::make_sim_backend(options);
}

MadeBackend make_cuda(const BackendRequest& request) {
  cuda::BackendOptions options;
  options.devices = request.devices;
  options.machine = request.machine;
  options.place = request.place;
  if (request.transport == "nccl") options.transport = cuda::Transport::kNccl;
  if (request.transport == "copies") options.transport = cuda::Transport::kCopies;
  options.process = {request.process.index,           request.process.count,
                     request.process.local_index,     request.process.local_count,
                     request.process.meeting_host,    request.process.meeting_port,
                     request.process.launcher_listens};
  options.timeout_ns = request.timeout_ns;
  options.stepwise = request.stepwise;
  options.graphs = request.graphs;
  options.kernel_times = request.kernel_times;
  options.exact_kernels = request.reference_kernels;
  options.seed = request.seed;
  options.schedule = request.schedule;
  options.timed_products = std::getenv("HOSTIR_CUDA_TIMED_PRODUCTS") != nullptr;
  const char* times = std::getenv("HOSTIR_CUDA_TIMES");
  options.sampled_times = times == nullptr || std::string_view(times) != "exact";
  return cuda::make_cuda_backend(options);
}

MadeBackend make_null(const BackendRequest& request) {
  interp::NullOptions options;
  options.p2p_buffer_bytes = static_cast<int64_t>(request.machine.p2p_buffer_bytes);
  return std::make_unique<interp::NullBackend>(options);
}

const std::vector<BackendEntry>& entries() {
  static const std::vector<BackendEntry> kEntries = {
      {"sim", {ClockDomain::kVirtual, true, true, ""}, cpu::isa_name, make_sim},
      {"cuda", {ClockDomain::kHost, true, false, ""}, nullptr, make_cuda, true},
      {"shapes", {ClockDomain::kVirtual, false, true, ""}, nullptr, make_shapes},
      {"null", {ClockDomain::kVirtual, false, false, ""}, nullptr, make_null},
  };
  return kEntries;
}

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> out;
  for (const BackendEntry& entry : entries()) out.emplace_back(entry.name);
  return out;
}

const BackendEntry* find_backend(std::string_view name) {
  for (const BackendEntry& entry : entries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

void name_backend(interp::BackendRequest& request, std::string_view name) {
  request.name = name;
  const BackendEntry* entry = find_backend(name);
  if (entry == nullptr) return;
  request.traits = entry->traits;
  if (entry->kernel_set != nullptr) request.traits.kernel_set = entry->kernel_set();
}

interp::BackendFactory make_backend_factory() {
  return [](const interp::BackendRequest& request) -> MadeBackend {
    if (const BackendEntry* entry = find_backend(request.name)) return entry->make(request);
    std::string known;
    for (const std::string& name : backend_names()) known += (known.empty() ? "" : ", ") + name;
    return fail(ErrorKind::kUsage, "no_backend",
                "no backend is called \"" + request.name + "\"; there are " + known);
  };
}

Expected<std::string> list_cuda_kernels(const interp::Code& code) {
  return cuda::list_kernels(code);
}

}  // namespace hostir::api
