// Allocations of the ranks, and host reads and writes of them.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "interp/core/code/buffer_layout.h"
#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

DeviceBackend::Memory* DeviceBackend::memory(Rank rank, AllocationId id) {
  auto& blocks = memory_[static_cast<size_t>(rank)].blocks;
  const auto found = blocks.find(id.index);
  return found == blocks.end() ? nullptr : &found->second;
}

void DeviceBackend::forget(Rank rank, AllocationId id) {
  RankMemory& memory = memory_[static_cast<size_t>(rank)];
  memory.blocks.erase(id.index);
  ++memory.version;
}

std::byte* DeviceBackend::address(Rank rank, const BufferRef& ref) {
  const Memory* m = memory(rank, ref.allocation);
  return m == nullptr || m->data == nullptr ? nullptr : m->data + ref.offset_bytes;
}

// The address range of a view, clamped to the allocation.
Side DeviceBackend::side(Rank rank, const BufferRef& ref) {
  if (!ref.allocation.valid()) return {};
  const Memory* m = memory(rank, ref.allocation);
  if (m == nullptr || m->data == nullptr) return {};
  const int64_t bytes = std::clamp<int64_t>(m->bytes - ref.offset_bytes, 0, ref.size_bytes);
  return {m->data + ref.offset_bytes, bytes};
}

// Frees the spare blocks of every stream whose tasks are all enqueued. Scratch memory stays,
// because graphs hold its address.
bool DeviceBackend::give_up_spare(const Device& device) {
  bool any = false;
  for (Queue& q : queues_) {
    const bool all_enqueued =
        q.held.empty() || (q.held.size() == 1 && &q.held.front() == handing_over_);
    if (q.device != &device || !all_enqueued) continue;
    for (auto& [bytes, blocks] : q.spare) {
      any = any || !blocks.empty();
      std::erase_if(blocks, [&, size = bytes](const SpareBlock& block) {
        if (planned_frees_.contains(block.data)) return false;
        q.device->release(block.data, q.stream);
        q.spare_bytes -= size;
        return true;
      });
    }
    if (q.scratch == nullptr || uses_graphs()) continue;
    q.device->release(std::exchange(q.scratch, nullptr), q.stream);
    q.scratch_bytes = 0;
    any = true;
  }
  return any;
}

// nullptr only if the device has no memory left even without the blocks that are kept for later.
void* DeviceBackend::take_memory(Device& device, int64_t bytes, StreamHandle stream) {
  void* memory = device.allocate(bytes, stream);
  if (memory != nullptr || capturing_) return memory;
  const bool gave_up = give_up_spare(device);
  // Work that waits for a rank that has not made its call yet may wait for this thread.
  const auto waits = [](const Queue& q) {
    return std::any_of(q.in_flight.begin(), q.in_flight.end(),
                       [](const InFlight& task) { return task.wire_call >= 0; });
  };
  const bool may_block = std::none_of(queues_.begin(), queues_.end(), waits);
  if (may_block) device.trim();
  return gave_up || may_block ? device.allocate(bytes, stream) : nullptr;
}

// Reallocation under the same id keeps the memory where it is.
bool DeviceBackend::allocate(Rank rank, AllocationId id, int64_t bytes, Device& device,
                             StreamHandle stream) {
  RankMemory& memory = memory_[static_cast<size_t>(rank)];
  Memory& m = memory.blocks[id.index];
  if (m.data != nullptr && m.bytes >= bytes) return true;
  ++memory.version;
  if (m.data != nullptr) device.release(m.data, stream);
  m = {};
  m.data = static_cast<std::byte*>(take_memory(device, std::max<int64_t>(bytes, 1), stream));
  m.bytes = m.data == nullptr ? 0 : bytes;
  return m.data != nullptr;
}

// Blocks freed on a stream serve its next allocations of the same size, without a driver call: in a
// process with several devices, or on a device with several processes, cudaMallocAsync takes 10 to
// 30 us. The rank's other streams may take a block once its stream has recorded an event after the
// free; none is recorded for this alone.
bool DeviceBackend::allocate_spare(Queue& queue, Rank rank, AllocationId id, int64_t bytes) {
  RankMemory& memory = memory_[static_cast<size_t>(rank)];
  Memory& m = memory.blocks[id.index];
  if (m.data != nullptr) {
    return m.bytes >= bytes || allocate(rank, id, bytes, *queue.device, queue.stream);
  }
  std::byte* block = take_spare(queue, bytes, queue);
  for (StreamIndex s = 0; block == nullptr && s < streams_ && !uses_graphs(); ++s) {
    block = take_spare(this->queue(rank, s), bytes, queue);
  }
  if (block == nullptr) return allocate(rank, id, bytes, *queue.device, queue.stream);
  m = {block, bytes, false};
  ++memory.version;
  return true;
}

// nullptr if `from` has no block of that size that `queue` may use.
std::byte* DeviceBackend::take_spare(Queue& from, int64_t bytes, Queue& queue) {
  const auto spare = from.spare.find(bytes);
  if (spare == from.spare.end() || spare->second.empty()) return nullptr;
  const bool is_own = &from == &queue;
  // The oldest is the most likely to have been freed when another stream gets there.
  const auto at = is_own ? std::prev(spare->second.end()) : spare->second.begin();
  if (!is_own && at->marks == from.marks) return nullptr;
  if (!is_own) queue.device->wait(queue.stream, from.marked->handle());
  std::byte* const block = at->data;
  spare->second.erase(at);
  from.spare_bytes -= bytes;
  return block;
}

void DeviceBackend::keep_spare(Queue& queue, const Memory& block) {
  queue.spare[block.bytes].push_back({block.data, queue.marks});
  queue.spare_bytes += block.bytes;
}

// Graphs decide by themselves which blocks they keep.
bool DeviceBackend::may_keep_spare(const Queue& queue, int64_t bytes) const {
  constexpr int64_t kMostShare = 4;  // a quarter of the device's memory
  if (uses_graphs() || bytes <= 0) return false;
  for (const Queue& q : queues_) {
    if (q.device == queue.device) bytes += q.spare_bytes;
  }
  return bytes <= queue.device->memory_bytes() / kMostShare;
}

void DeviceBackend::free_block(Queue& queue, const Memory& block) {
  if (may_keep_spare(queue, block.bytes)) {
    keep_spare(queue, block);
  } else {
    queue.device->release(block.data, queue.stream);
  }
}

void DeviceBackend::release_spare(Queue& queue) {
  for (const auto& [bytes, blocks] : queue.spare) {
    for (const SpareBlock& block : blocks) queue.device->release(block.data, queue.stream);
  }
  queue.spare.clear();
  queue.spare_bytes = 0;
}

// The next run gets the same addresses as this one, so that it finds recorded calls and graphs
// again: the blocks of each size are sorted.
bool DeviceBackend::restart() {
  if (failed_ || is_pending() || !held_.empty() || !meetings_.empty()) return false;
  for (const auto& device : devices_) device->synchronize();
  for (Rank r = 0; r < code_->rank_count; ++r) {
    if (!is_local(r) || streams_ == 0) continue;
    RankMemory& memory = memory_[static_cast<size_t>(r)];
    std::erase_if(memory.blocks, [&](const auto& block) {
      if (block.second.is_parameter) return false;
      if (block.second.data != nullptr) free_block(queue(r, 0), block.second);
      return true;
    });
    ++memory.version;
  }
  for (Queue& q : queues_) {
    for (auto& [bytes, blocks] : q.spare) {
      std::sort(blocks.begin(), blocks.end(),
                [](const SpareBlock& a, const SpareBlock& b) { return a.data < b.data; });
    }
  }
  enqueued_.clear();
  delivered_early_.clear();
  collected_ns_.clear();
  return true;
}

Expected<void> DeviceBackend::write(Rank rank, AllocationId allocation, const Placement& placement,
                                    int64_t offset_bytes, std::span<const std::byte> data) {
  if (!is_local(rank)) return {};
  Device& device = *device_of_[static_cast<size_t>(rank)];
  if (memory(rank, allocation) == nullptr) {
    if (!allocate(rank, allocation, placement.local_bytes(), device, nullptr)) {
      return fail(ErrorKind::kRuntime, "max_memory",
                  fmt::format("device {} ({}) has no {} bytes left for rank {}", device.index(),
                              device.name(), placement.local_bytes(), rank));
    }
    memory(rank, allocation)->is_parameter = true;
  }
  const Memory& m = *memory(rank, allocation);
  const auto bytes = static_cast<int64_t>(data.size());
  if (offset_bytes < 0 || offset_bytes + bytes > m.bytes) {
    return fail(ErrorKind::kRuntime, "backend_write",
                fmt::format("{} bytes at {} do not fit into an allocation of {} bytes", bytes,
                            offset_bytes, m.bytes));
  }
  if (bytes > 0) device.upload(m.data + offset_bytes, data.data(), bytes);
  return {};
}

Expected<Tensor> DeviceBackend::read(Rank rank, const BufferRef& buffer, const Box& box) const {
  if (buffer.placement == nullptr || !buffer.allocation.valid()) {
    return fail(ErrorKind::kRuntime, "backend_read", "no such buffer");
  }
  if (!is_local(rank)) {
    return fail(ErrorKind::kRuntime, "backend_read",
                fmt::format("rank {} is in another process", rank));
  }
  const Placement& placement = *buffer.placement;
  if (!placement.box.contains(box)) {
    return fail(ErrorKind::kRuntime, "backend_read", "the rank does not hold all of the box");
  }
  Tensor out = Tensor::zeros(placement.dtype, box.extents());
  if (out.data.empty()) return out;
  const auto& blocks = memory_[static_cast<size_t>(rank)].blocks;
  const auto found = blocks.find(buffer.allocation.index);
  const int64_t needed = buffer.offset_bytes + buffer.size_bytes;
  if (found == blocks.end() || found->second.bytes < needed) {
    // as undefined memory in the simulator
    std::fill(out.data.begin(), out.data.end(), std::byte{0xFF});
    return out;
  }
  std::vector<std::byte> stored(static_cast<size_t>(buffer.size_bytes));
  device_of_[static_cast<size_t>(rank)]->download(
      stored.data(), found->second.data + buffer.offset_bytes, buffer.size_bytes);
  interp::gather(buffer, placement, box, stored.data(), out.data.data());
  return out;
}

}  // namespace hostir::cuda
