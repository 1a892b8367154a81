// The buffers of all simulated ranks.
//
// Every live allocation is a handle to a chunk; equal contents may share one. A write first makes
// the allocation the only owner (copy on write); if all of it is overwritten, the old bytes are
// simply released. `poison()` marks contents as undefined at no cost: the pattern 0xFF (NaN in
// every float type, -1 in integers) is written only when it is read. Copying a SimMemory copies
// only handles, so it serves as a checkpoint. Absent: limits and leaks, which the interpreter
// checks on the logical sizes.
#pragma once

#include <map>
#include <vector>

#include "interp/core/backend.h"
#include "interp/sim/chunk.h"

namespace hostir::sim {

using interp::AllocationId;
using interp::BufferRef;
using interp::Rank;

class SimMemory {
 public:
  explicit SimMemory(Rank rank_count = 0) : ranks_(static_cast<size_t>(rank_count)) {}

  /// Creates an undefined allocation, or makes the contents of an existing one undefined.
  void allocate(Rank rank, AllocationId id, int64_t size_bytes);
  void release(Rank rank, AllocationId id);
  bool known(Rank rank, AllocationId id) const;
  int64_t size_bytes(Rank rank, AllocationId id) const;  // 0 if unknown

  /// Makes a range undefined.
  void poison(Rank rank, const BufferRef& ref);

  /// The chunk with the current contents; undefined parts show the poison pattern. An unknown
  /// allocation is treated as an undefined one of the size that `ref` needs.
  ChunkRef chunk(Rank rank, const BufferRef& ref);
  /// The same, read-only: changes nothing; an undefined allocation gives an empty handle.
  ChunkRef look(Rank rank, AllocationId id) const;

  /// What to preserve before the caller writes: nothing inside the range, or everything.
  enum class Keep : uint8_t { kNothingInRange, kEverything };
  /// Writable memory of the range, owned only by this allocation; valid until the next call.
  std::byte* writable(Rank rank, const BufferRef& ref, Keep keep);

  /// Copies bytes of a chunk into the range; shares the chunk if it covers the whole allocation.
  void assign(Rank rank, const BufferRef& ref, const ChunkRef& source, int64_t source_offset_bytes);

  /// Bytes of chunks that only this object holds, each counted once.
  int64_t exclusive_bytes() const;
  /// All chunks, shared or not; one may appear several times.
  std::vector<interp::MemoryBlock> blocks() const;

 private:
  struct Allocation {
    ChunkRef chunk;  // empty while undefined and not accessed
    int64_t size_bytes = 0;
    bool undefined = true;
  };
  Allocation& at(Rank rank, const BufferRef& ref);
  static void define(Allocation& allocation);
  static void own(Allocation& allocation);

  std::vector<std::map<uint32_t, Allocation>> ranks_;
};

}  // namespace hostir::sim
