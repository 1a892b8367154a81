#include "interp/sim/memory.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace hostir::sim {

namespace {

constexpr int kPoison = 0xFF;

void fill(Chunk& chunk, int64_t offset, int64_t size) {
  if (size > 0) std::memset(chunk.data() + offset, kPoison, static_cast<size_t>(size));
}

void copy_bytes(std::byte* to, const std::byte* from, int64_t size) {
  if (size > 0) std::memcpy(to, from, static_cast<size_t>(size));
}

}  // namespace

void SimMemory::allocate(Rank rank, AllocationId id, int64_t size_bytes) {
  Allocation& a = ranks_[static_cast<size_t>(rank)][id.index];
  a.undefined = true;
  a.size_bytes = std::max(a.size_bytes, size_bytes);
  if (a.chunk && (!a.chunk.unique() || a.chunk->size_bytes() != a.size_bytes)) a.chunk = {};
}

void SimMemory::release(Rank rank, AllocationId id) {
  ranks_[static_cast<size_t>(rank)].erase(id.index);
}

bool SimMemory::known(Rank rank, AllocationId id) const {
  return ranks_[static_cast<size_t>(rank)].contains(id.index);
}

int64_t SimMemory::size_bytes(Rank rank, AllocationId id) const {
  const auto& allocations = ranks_[static_cast<size_t>(rank)];
  const auto found = allocations.find(id.index);
  return found == allocations.end() ? 0 : found->second.size_bytes;
}

SimMemory::Allocation& SimMemory::at(Rank rank, const BufferRef& ref) {
  Allocation& a = ranks_[static_cast<size_t>(rank)][ref.allocation.index];
  const int64_t needed = ref.offset_bytes + ref.size_bytes;
  if (a.size_bytes >= needed) return a;
  // Grows only if a task accesses more than was allocated, which the interpreter has reported.
  ChunkRef larger = ChunkRef::make(needed);
  fill(*larger.get(), 0, needed);
  if (a.chunk && !a.undefined) copy_bytes(larger->data(), a.chunk->data(), a.size_bytes);
  a.undefined = a.undefined && !a.chunk;
  a.chunk = std::move(larger);
  a.size_bytes = needed;
  return a;
}

void SimMemory::own(Allocation& a) {
  if (!a.chunk) {
    a.chunk = ChunkRef::make(a.size_bytes);
  } else if (!a.chunk.unique()) {
    ChunkRef mine = ChunkRef::make(a.size_bytes);
    if (!a.undefined) copy_bytes(mine->data(), a.chunk->data(), a.size_bytes);
    a.chunk = std::move(mine);
  }
  a.chunk->begin_change();
}

void SimMemory::define(Allocation& a) {
  if (!a.undefined) return;
  own(a);
  fill(*a.chunk.get(), 0, a.size_bytes);
  a.undefined = false;
}

void SimMemory::poison(Rank rank, const BufferRef& ref) {
  Allocation& a = at(rank, ref);
  if (ref.size_bytes >= a.size_bytes) {
    a.undefined = true;
    if (!a.chunk.unique()) a.chunk = {};
  } else if (!a.undefined) {
    own(a);
    fill(*a.chunk.get(), ref.offset_bytes, ref.size_bytes);
  }
}

ChunkRef SimMemory::chunk(Rank rank, const BufferRef& ref) {
  Allocation& a = at(rank, ref);
  define(a);
  return a.chunk;
}

ChunkRef SimMemory::look(Rank rank, AllocationId id) const {
  const auto& allocations = ranks_[static_cast<size_t>(rank)];
  const auto found = allocations.find(id.index);
  if (found == allocations.end() || found->second.undefined) return {};
  return found->second.chunk;
}

std::byte* SimMemory::writable(Rank rank, const BufferRef& ref, Keep keep) {
  Allocation& a = at(rank, ref);
  if (keep == Keep::kNothingInRange && ref.size_bytes >= a.size_bytes) {
    a.undefined = true;  // nothing to copy
    own(a);
    a.undefined = false;
  } else {
    define(a);
    own(a);
  }
  return a.chunk->data() + ref.offset_bytes;
}

void SimMemory::assign(Rank rank, const BufferRef& ref, const ChunkRef& source,
                       int64_t source_offset_bytes) {
  Allocation& a = at(rank, ref);
  const bool whole = ref.offset_bytes == 0 && ref.size_bytes == a.size_bytes &&
                     source_offset_bytes == 0 && source->size_bytes() == a.size_bytes;
  if (whole) {
    a.chunk = source;
    a.undefined = false;
    return;
  }
  // `source` may be this allocation's own chunk: keeping it shared makes writable() copy it first.
  const ChunkRef keep = source;
  std::byte* to = writable(rank, ref, Keep::kNothingInRange);
  copy_bytes(to, keep->data() + source_offset_bytes, ref.size_bytes);
}

int64_t SimMemory::exclusive_bytes() const {
  std::set<const Chunk*> seen;
  int64_t bytes = 0;
  for (const auto& allocations : ranks_) {
    for (const auto& [id, a] : allocations) {
      if (a.chunk.unique() && seen.insert(a.chunk.get()).second) bytes += a.chunk->size_bytes();
    }
  }
  return bytes;
}

std::vector<interp::MemoryBlock> SimMemory::blocks() const {
  std::vector<interp::MemoryBlock> out;
  for (const auto& allocations : ranks_) {
    for (const auto& [id, a] : allocations) {
      if (a.chunk.get() != nullptr) out.push_back({a.chunk.get(), a.chunk->size_bytes()});
    }
  }
  return out;
}

}  // namespace hostir::sim
