// The buffers of all simulated ranks.
//
// Every live allocation is a handle to a chunk; equal contents may share one. A write makes the
// allocation the only owner first (copy on write), except where all of it is overwritten: then the
// old bytes are simply let go. `poison()` marks contents as undefined and costs nothing: the
// pattern 0xFF (NaN in every float type, -1 in integers) appears when somebody reads. Copying a
// SimMemory copies handles only, which is what a checkpoint is. Absent: limits and leaks, which the
// interpreter checks on the logical sizes.
#pragma once

#include <map>
#include <span>
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

  /// Makes an undefined allocation, or makes the contents of a known one undefined.
  void allocate(Rank rank, AllocationId id, int64_t size_bytes);
  void release(Rank rank, AllocationId id);
  bool known(Rank rank, AllocationId id) const;
  int64_t size_bytes(Rank rank, AllocationId id) const;  // 0 if unknown

  /// Makes a range undefined.
  void poison(Rank rank, const BufferRef& ref);

  /// The chunk with the contents as they are now; undefined parts show the pattern. Unknown
  /// allocations appear as undefined ones of the size that `ref` needs.
  ChunkRef chunk(Rank rank, const BufferRef& ref);
  /// The same for looking only: nothing is changed, an undefined allocation gives an empty handle.
  ChunkRef look(Rank rank, AllocationId id) const;

  /// What becomes of the bytes outside and inside the range before the caller writes.
  enum class Keep : uint8_t { kNothingInRange, kEverything };
  /// Memory of the range, owned by this allocation alone, valid until the next call.
  std::byte* writable(Rank rank, const BufferRef& ref, Keep keep);

  /// Sets the range to bytes of a chunk; shares the chunk where it covers the whole allocation.
  void assign(Rank rank, const BufferRef& ref, const ChunkRef& source, int64_t source_offset_bytes);

  /// Bytes of chunks that nobody but this object holds, counted once each.
  int64_t exclusive_bytes() const;
  /// All chunks, shared or not; one may appear several times.
  std::vector<interp::MemoryBlock> blocks() const;

 private:
  struct Allocation {
    ChunkRef chunk;  // empty while undefined and never touched
    int64_t size_bytes = 0;
    bool undefined = true;
  };
  Allocation& at(Rank rank, const BufferRef& ref);
  static void define(Allocation& allocation);
  static void own(Allocation& allocation);

  std::vector<std::map<uint32_t, Allocation>> ranks_;
};

}  // namespace hostir::sim
