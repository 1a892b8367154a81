// Everything that a decision can change, as one copyable value.
//
// Saving a state means copying it; History keeps copies as checkpoints. Caches and append-only
// tables (plans, loop paths, strided shapes) are in the Engine and are not state. Pointers point
// into Code or into the Engine's append-only tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "interp/core/backend.h"
#include "interp/core/byte_ranges.h"
#include "interp/core/code/code.h"
#include "interp/core/fault.h"
#include "interp/core/ledger.h"
#include "interp/core/register.h"
#include "interp/core/task_table.h"
#include "interp/core/views.h"

namespace hostir::interp {

struct LoopFrame {
  CodeIndex loop = 0;
  int64_t index = 0;
  int64_t upper = 0;
  LoopPathId path = 0;
  LoopPathId outer = 0;
};

/// One access of a task to an allocation, for race detection.
struct AccessRecord {
  int64_t lo = 0;
  int64_t hi = 0;
  uint32_t shape = 0;  // strided shape at `lo`; 0: contiguous
  StreamIndex stream = 0;
  uint32_t sequence = 0;  // number on the stream
  CodeIndex code = 0;
  enum class Kind : uint8_t { kRead, kWrite, kAlloc } kind = Kind::kRead;
};

/// Accesses to a whole allocation from a single stream, which are therefore ordered. This is the
/// common case, kept apart from the list because it is cheap.
struct WholeAccesses {
  StreamIndex stream = kNoStream;
  uint32_t write = 0;  // sequence numbers on the stream; 0: none
  uint32_t read = 0;
  CodeIndex write_code = 0;
  CodeIndex read_code = 0;
  AccessRecord::Kind write_kind = AccessRecord::Kind::kWrite;
  bool empty() const { return (write | read) == 0; }
};

/// A rank's slot for one allocation. Freed slots are kept for a while, so that late uses can be
/// named.
struct Allocation {
  AllocationId id;
  int64_t bytes = 0;
  uint32_t generation = 0;  // bumped by `alloc over`, which makes older names stale
  uint32_t reg = kNoRegister;
  LayoutIndex layout = kNoLayout;
  const Placement* placement = nullptr;  // current
  const Placement* declared = nullptr;   // at allocation
  uint64_t version = 0;
  CodeIndex allocated_by = kNoCode;
  CodeIndex freed_by = kNoCode;
  CodeIndex written_by = kNoCode;
  uint64_t written_task = kNoTask;
  bool parameter = false;
  bool writable = true;
  bool live = false;
  bool initialised = false;  // every byte is written
  bool returned = false;
  ByteSet written;                     // the written bytes, if not every byte is
  WholeAccesses whole;                 // used only while `accesses` is empty
  std::vector<AccessRecord> accesses;  // all accesses, once `whole` does not suffice
};

struct StreamState {
  uint32_t issued = 0;        // number of tasks
  uint32_t outstanding = 0;   // not finished
  uint32_t host_epoch = 0;    // number of host waits included in its clock row
  std::vector<TaskId> waits;  // for the next task
};

/// What a task does to one of its buffers, for the checks.
struct BufferAccess {
  uint32_t slot = kNoSlot;
  uint32_t reg = kNoRegister;
  uint32_t shape = 0;
  ByteRange range;
  Access access = Access::kRead;
  LayoutIndex after = kNoLayout;
  const Placement* placement_after = nullptr;
  CodeIndex code = 0;
  ByteRange reads;  // the part of `range` whose bytes must have been written
};

/// A member of an open group, resolved when the rank executed it.
struct ResolvedCall {
  CommunicationItem item;
  Arrival arrival;
  std::vector<BufferAccess> accesses;
};

/// Freed slots, oldest first.
class SlotQueue {
 public:
  size_t size() const { return slots_.size() - head_; }
  void push(uint32_t slot) { slots_.push_back(slot); }
  uint32_t pop() {
    const uint32_t slot = slots_[head_++];
    if (head_ == kSlack) {
      slots_.erase(slots_.begin(), slots_.begin() + kSlack);
      head_ = 0;
    }
    return slot;
  }
  void remove(uint32_t slot) {
    slots_.erase(
        std::remove(slots_.begin() + static_cast<std::ptrdiff_t>(head_), slots_.end(), slot),
        slots_.end());
  }

 private:
  static constexpr int kSlack = 64;  // popped entries that may remain in front
  std::vector<uint32_t> slots_;
  size_t head_ = 0;
};

struct RankState {
  CodeIndex pc = 0;
  RankStatus status = RankStatus::kRunnable;
  bool frozen = false;
  int64_t clock_ns = 0;
  uint64_t steps = 0;
  TaskId waits_for = kNoTask;
  LoopPathId loop_path = 0;
  std::vector<LoopFrame> loops;
  std::vector<Register> registers;
  std::vector<Register> results;  // operands of `return`

  TaskTable tasks;
  std::vector<StreamState> streams;
  std::vector<uint32_t> clocks;  // row s: stream s; last row: the host; padded (TaskTable)
  uint32_t host_epoch = 0;
  uint32_t outstanding = 0;
  std::vector<TaskDependency> dependencies;
  std::vector<ResolvedCall> open_group;

  std::vector<Allocation> allocations;  // by slot
  SlotQueue free_slots;
  uint32_t next_allocation = 0;
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
};

/// Tasks a and b of one rank access the same bytes and nothing seen so far orders them. Another
/// rank's part of a collective may still order them.
struct PossibleRace {
  Rank rank = 0;
  AccessRecord first;
  AccessRecord second;
  uint32_t reg = kNoRegister;
  std::vector<uint32_t> clock;  // of the second task
  LoopPathId path = 0;          // of the second task
};

struct State {
  uint64_t position = 0;
  uint32_t in_flight = 0;
  int64_t live_bytes = 0;  // sum over all ranks
  bool concluded = false;
  bool gave_up = false;  // concluded because nothing completed within timeout_ns
  bool failed = false;   // a fatal fault: no rank may step
  std::vector<RankState> ranks;
  Ledger ledger;
  std::vector<PossibleRace> possible_races;
  std::vector<Fault> faults;
};

}  // namespace hostir::interp
