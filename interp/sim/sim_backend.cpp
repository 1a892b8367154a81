// Setup, reading and writing, checkpoints.
#include "interp/sim/sim_backend.h"

#include <fmt/core.h>

#include <cstring>

#include "hostir/support/hash.h"
#include "hostir/support/physical_memory.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/sim/backend_state.h"

namespace hostir::sim {

namespace {

tl::unexpected<Error> no_values() {
  return fail(ErrorKind::kRuntime, "no_values",
              "this run computes no values, only times, memory and collectives (--shapes-only); "
              "run on the sim backend for values");
}

}  // namespace

std::unique_ptr<interp::Backend> make_sim_backend(const SimOptions& options) {
  return std::make_unique<SimBackend>(options);
}

SimBackend::SimBackend(const SimOptions& options)
    : options_(options), physical_bytes_(physical_memory_bytes()), plans_(options) {}

interp::Capabilities SimBackend::capabilities() const {
  interp::Capabilities out;
  out.name = computes() ? "sim" : "shapes";
  out.clock = interp::ClockDomain::kVirtual;
  out.reads_values = computes();
  return out;
}

Expected<void> SimBackend::prepare(const interp::Code& code) {
  code_ = &code;
  state_ = State(options_.members == SimOptions::Members::kAlike ? 1 : code.rank_count);
  if (options_.threads > 0) cpu::set_thread_count(options_.threads);
  placements_.adopt(code);
  return plans_.prepare(code);
}

Expected<void> SimBackend::write(Rank rank, AllocationId allocation, const Placement& placement,
                                 int64_t offset_bytes, std::span<const std::byte> data) {
  BufferRef ref;
  ref.allocation = allocation;
  ref.offset_bytes = offset_bytes;
  ref.size_bytes = static_cast<int64_t>(data.size());
  SimMemory& memory = state_.memory;
  if (!memory.known(rank, allocation)) memory.allocate(rank, allocation, placement.local_bytes());
  if (data.empty()) return {};
  if (!computes()) return no_values();
  if (offset_bytes < 0 || offset_bytes + ref.size_bytes > memory.size_bytes(rank, allocation)) {
    return fail(ErrorKind::kRuntime, "backend_write",
                fmt::format("{} bytes at {} do not fit into an allocation of {} bytes",
                            ref.size_bytes, offset_bytes, memory.size_bytes(rank, allocation)));
  }
  const bool whole = ref.size_bytes == memory.size_bytes(rank, allocation);
  if (!whole || !state_.tasks.empty()) {
    std::memcpy(memory.writable(rank, ref, SimMemory::Keep::kEverything), data.data(), data.size());
    return {};
  }
  const std::pair key{hash_of(data.first(static_cast<size_t>(ref.size_bytes))), ref.size_bytes};
  const auto [begin, end] = inputs_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (std::memcmp(at->second->data(), data.data(), data.size()) != 0) continue;
    memory.assign(rank, ref, at->second, 0);
    return {};
  }
  ChunkRef chunk = ChunkRef::make(ref.size_bytes);
  std::memcpy(chunk->data(), data.data(), data.size());
  chunk->set_version(next_version_++);
  memory.assign(rank, ref, chunk, 0);
  inputs_.emplace(key, std::move(chunk));
  return {};
}

Expected<Tensor> SimBackend::read(Rank rank, const BufferRef& buffer, const Box& box) const {
  if (!computes()) return no_values();
  if (buffer.placement == nullptr || !buffer.allocation.valid()) {
    return fail(ErrorKind::kRuntime, "backend_read", "no such buffer");
  }
  const Placement& placement = *buffer.placement;
  if (!placement.box.contains(box)) {
    return fail(ErrorKind::kRuntime, "backend_read", "the rank does not hold all of the box");
  }
  Tensor out = Tensor::zeros(placement.dtype, box.extents());
  if (out.data.empty()) return out;
  const ChunkRef chunk = state_.memory.look(rank, buffer.allocation);
  const int64_t needed = buffer.offset_bytes + buffer.size_bytes;
  if (!chunk || chunk->size_bytes() < needed) {
    std::memset(out.data.data(), 0xFF, out.data.size());
    return out;
  }
  gather(buffer, placement, box, chunk->data() + buffer.offset_bytes, out.data.data());
  return out;
}

std::vector<interp::MemoryBlock> SimCheckpoint::blocks() const {
  constexpr int64_t kBytesOfTask = 800;  // estimate of its nodes in map and timeline
  std::vector<interp::MemoryBlock> out = state_.memory.blocks();
  out.push_back({this, static_cast<int64_t>(state_.tasks.size()) * kBytesOfTask});
  return out;
}

Expected<std::unique_ptr<interp::BackendCheckpoint>> SimBackend::checkpoint() const {
  return std::make_unique<SimCheckpoint>(state_);
}

Expected<void> SimBackend::restore(const interp::BackendCheckpoint& checkpoint) {
  state_ = static_cast<const SimCheckpoint&>(checkpoint).state();
  return {};
}

std::string SimBackend::describe(interp::CodeIndex code, Rank rank) const {
  const LaunchPlan* plan = plans_.last(code, rank);
  return plan == nullptr || !plan->kernel ? std::string() : plan->kernel->description();
}

kernels::KernelWork SimBackend::kernel_work(interp::CodeIndex code, Rank rank) const {
  const LaunchPlan* plan = plans_.last(code, rank);
  return plan == nullptr ? kernels::KernelWork{} : plan->work;
}

}  // namespace hostir::sim
