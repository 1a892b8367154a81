// Places ranks on devices, connects processes, creates communicators, compiles kernels before the
// run.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/support/lists.h"
#include "interp/cuda/device_backend.h"
#include "interp/cuda/placement.h"

namespace hostir::cuda {

DeviceBackend::DeviceBackend(BackendOptions options, std::unique_ptr<RunClock> clock,
                             std::vector<std::unique_ptr<Device>> devices)
    : options_(std::move(options)),
      clock_(std::move(clock)),
      devices_(std::move(devices)),
      kernels_([](kernels::BoundKernel bound) -> Expected<std::unique_ptr<KernelPlan>> {
        auto plan = std::make_unique<KernelPlan>();
        plan->bound = std::move(bound);
        return plan;
      }) {}

DeviceBackend::~DeviceBackend() {
  // Work that waits for other processes may never finish: abort it without waiting.
  if (network_ != nullptr && (failed_ || is_pending())) {
    network_->abort();
    return;
  }
  for (const auto& device : devices_) {
    if (device->failure() == nullptr) device->synchronize();
  }
  graphs_.clear();  // before the communicators
  for (const auto& [key, meeting] : meetings_) {
    if (meeting.buffer == nullptr) continue;
    const Queue& sender = *meeting.queues.front();
    sender.device->release(meeting.buffer, sender.stream);
  }
  for (Queue& q : queues_) {
    if (q.scratch != nullptr) q.device->release(q.scratch, q.stream);
    release_spare(q);
  }
}

interp::Capabilities DeviceBackend::capabilities() const {
  interp::Capabilities out;
  out.name = "cuda";
  out.clock = interp::ClockDomain::kHost;
  out.reads_values = true;
  out.plans_tasks = true;
  if (options_.process.count == 1) return out;
  for (size_t r = 0; r < device_of_.size(); ++r) {
    if (device_of_[r] != nullptr) out.local_ranks.push_back(static_cast<Rank>(r));
  }
  return out;
}

// The first communicator that joins ranks that share a device with ranks elsewhere; nullptr if
// there is none. `crosses`: some communicator joins devices.
bool DeviceBackend::is_mixed(const interp::Communicator& comm) const {
  return std::any_of(comm.groups.begin(), comm.groups.end(), [&](const std::vector<Rank>& group) {
    std::set<Device*> devices;
    size_t here = 0;
    for (const Rank r : group) {
      if (!is_local(r)) continue;
      devices.insert(device_of_[static_cast<size_t>(r)]);
      ++here;
    }
    const bool on_one_device = devices.size() == 1 && here == group.size();
    return here > 0 && !on_one_device && devices.size() != here;
  });
}

const interp::Communicator* DeviceBackend::find_mixed(const interp::Code& code) const {
  for (const interp::Communicator& comm : code.communicators) {
    if (is_mixed(comm)) return &comm;
  }
  return nullptr;
}

// True if the members of some group are not all on one device, and do not exchange by copies.
bool DeviceBackend::needs_network(const interp::Code& code) const {
  for (CommIndex i = 0; i < code.communicators.size(); ++i) {
    if (uses_copies_[i]) continue;
    for (const std::vector<Rank>& group : code.communicators[i].groups) {
      std::set<Device*> devices;
      for (const Rank r : group) devices.insert(device_of_[static_cast<size_t>(r)]);
      if (devices.size() > 1) return true;
    }
  }
  return false;
}

Expected<void> DeviceBackend::place(const interp::Code& code) {
  PlaceRequest request;
  request.ranks = code.rank_count;
  request.processes = options_.process.count;
  request.process = options_.process.index;
  request.local_processes = options_.process.local_count;
  request.local_process = options_.process.local_index;
  request.devices = static_cast<int>(devices_.size());
  request.devices_are_named = !options_.devices.empty();
  request.place = options_.place;
  HOSTIR_ASSIGN_OR_RETURN(place_of_, place_ranks(request));
  const auto set_devices = [&] {
    device_of_.clear();
    for (const int device : place_of_) {
      device_of_.push_back(device < 0 ? nullptr : devices_[static_cast<size_t>(device)].get());
    }
  };
  set_devices();
  // Too few devices for some communicator, and they cannot copy from each other: all ranks share
  // the first one, unless the user placed them.
  if (!options_.place.empty() || options_.process.count > 1) return {};
  const bool may_copy = options_.transport != Transport::kNccl && can_copy_between_devices();
  if (may_copy || find_mixed(code) == nullptr) return {};
  std::fill(place_of_.begin(), place_of_.end(), 0);
  set_devices();
  return {};
}

Expected<void> DeviceBackend::meet_processes() {
  if (options_.process.count == 1) return {};
  HOSTIR_ASSIGN_OR_RETURN(rendezvous_, Rendezvous::create(options_.process, options_.timeout_ns));
  rendezvous_->set_rank_count(static_cast<Rank>(device_of_.size()));
  return {};
}

// Connects a network if any two members of a communicator are on different devices.
Expected<void> DeviceBackend::connect(const interp::Code& code) {
  HOSTIR_TRY(choose_transports(code));
  const interp::Communicator* mixed = find_mixed(code);
  const auto index = mixed == nullptr ? 0 : static_cast<size_t>(mixed - code.communicators.data());
  if (mixed != nullptr && !uses_copies_[index]) {
    return fail(ErrorKind::kUsage, "place",
                fmt::format("{}: some of its ranks share a device and others are elsewhere ({}); "
                            "NCCL cannot join them, and copies need one process and devices that "
                            "can read each other's memory. Place all ranks on one device, each on "
                            "its own device, or one rank per process",
                            mixed->to_string(), describe_places(place_of_)));
  }
  // Creating communicators involves every process, or none.
  if (options_.process.count == 1 && !needs_network(code)) return {};
  NetworkSetup setup;
  setup.code = &code;
  setup.device_of_rank = device_of_;
  setup.process = options_.process.index;
  setup.timeout_ns = options_.timeout_ns;
  std::set<std::string> seen;
  const auto share = [this](const std::string& topic, const std::string& text) {
    return rendezvous_->exchange(topic, text, options_.timeout_ns);
  };
  if (rendezvous_ == nullptr) {
    setup.share = [](const std::string&, const std::string& text) -> Expected<std::string> {
      return text;
    };
  } else {
    std::string mine;
    for (const Device* device : std::set<Device*>(device_of_.begin(), device_of_.end())) {
      if (device != nullptr) mine += device->identity() + "\n";
    }
    for (const auto& answer : share("devices", mine)) {
      if (answer.text && !seen.insert(*answer.text).second) setup.devices_are_shared = true;
    }
    setup.share = [share](const std::string& topic,
                          const std::string& text) -> Expected<std::string> {
      const auto answers = share(topic, text);
      if (answers.front().text) return *answers.front().text;
      return fail(ErrorKind::kRuntime, "rendezvous",
                  fmt::format("{}: process 0 {}", topic, answers.front().why_not));
    };
  }
  HOSTIR_ASSIGN_OR_RETURN(network_, make_nccl_network(setup));
  return {};
}

Expected<void> DeviceBackend::prepare(const interp::Code& code) {
  code_ = &code;
  streams_ = code.streams.size();
  HOSTIR_TRY(place(code));
  HOSTIR_TRY(meet_processes());
  queues_.resize(static_cast<size_t>(code.rank_count) * streams_);
  memory_.resize(static_cast<size_t>(code.rank_count));
  durations_.resize(code.instructions.size() * static_cast<size_t>(code.rank_count));
  for (Rank r = 0; r < code.rank_count; ++r) {
    for (StreamIndex s = 0; is_local(r) && s < streams_; ++s) {
      Queue& q = queue(r, s);
      q.device = device_of_[static_cast<size_t>(r)];
      q.stream = q.device->make_stream();
    }
  }
  std::set<Device*> driven(device_of_.begin(), device_of_.end());
  driven.erase(nullptr);
  drives_several_ = driven.size() > 1;
  HOSTIR_TRY(connect(code));
  return interp::prepare_static_launches(
      code,
      [this](CodeIndex index, Rank rank,
             const interp::LaunchPlacements& operands) -> Expected<void> {
        if (!is_local(rank)) return {};
        HOSTIR_ASSIGN_OR_RETURN(KernelPlan * plan, find_kernel(index, rank, operands));
        HOSTIR_TRY(kernel_on(*plan, *device_of_[static_cast<size_t>(rank)]));
        return {};
      });
}

std::vector<std::pair<std::string, std::string>> DeviceBackend::properties() const {
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("placement", describe_places(place_of_));
  if (options_.process.count > 1) {
    out.emplace_back("process",
                     fmt::format("{} of {}", options_.process.index, options_.process.count));
  }
  for (const auto& device : devices_) {
    out.emplace_back(fmt::format("device {}", device->index()), device->name());
    for (auto& [name, value] : device->properties()) {
      out.emplace_back(fmt::format("device {} {}", device->index(), name), value);
    }
  }
  if (keeps_times()) out.emplace_back("times", times_text());
  if (options_.graphs) out.emplace_back("graphs", graphs_text());
  if (contains(uses_copies_, true)) out.emplace_back("transport", "copies between devices");
  if (network_ != nullptr) {
    for (auto& property : network_->properties()) out.push_back(std::move(property));
  }
  return out;
}

std::unique_ptr<interp::Backend> make_device_backend(const BackendOptions& options,
                                                     const MakeDevices& make,
                                                     std::unique_ptr<RunClock> clock) {
  if (clock == nullptr) clock = std::make_unique<RunClock>();
  std::vector<std::unique_ptr<Device>> devices = make(*clock);
  return std::make_unique<DeviceBackend>(options, std::move(clock), std::move(devices));
}

Expected<std::unique_ptr<interp::Backend>> make_cuda_backend(const BackendOptions& options) {
  auto clock = std::make_unique<RunClock>();
  CudaDeviceOptions device_options;
  device_options.exact_epilogues = options.exact_kernels;
  device_options.timed_products = options.timed_products;
  HOSTIR_ASSIGN_OR_RETURN(auto devices, open_cuda_devices(options.devices, *clock, device_options));
  return std::make_unique<DeviceBackend>(options, std::move(clock), std::move(devices));
}

}  // namespace hostir::cuda
