// Tracks which tasks each stream knows to be complete.
//
// Uses vector clocks over streams: a task knows that all earlier tasks on its stream are complete,
// and so are all tasks that were known to the tasks it waited for. This suffices to omit every
// redundant wait. Ranks that do not execute a task learn nothing from a wait for it, so there is a
// clock for every class of ranks that execute the same tasks (members.h). Handles straight-line
// host functions, in program order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

/// The n-th task (1-based) of a stream.
struct StreamPoint {
  ValueId stream;
  uint32_t task = 0;
  uint32_t set = 0;  // of ranks that execute it
  friend bool operator==(const StreamPoint&, const StreamPoint&) = default;
};

class StreamOrder {
 public:
  /// `classes[s]`: the classes that make up set s of ranks (Members::classes()).
  explicit StreamOrder(std::vector<std::vector<uint32_t>> classes) : classes_(std::move(classes)) {}

  /// Issues the next task on a stream, on a set of ranks.
  StreamPoint issue(ValueId stream, uint32_t set);
  /// True if the next task on `stream` can start only after `point` is complete.
  bool knows(ValueId stream, const StreamPoint& point) const;
  /// `stream` waits for `point`.
  void wait(ValueId stream, const StreamPoint& point);

 private:
  using Clock = std::map<uint32_t, uint32_t>;    // stream -> number of tasks known to be complete
  using Key = std::pair<uint32_t, uint32_t>;     // class, stream
  std::vector<std::vector<uint32_t>> classes_;   // by set
  std::map<uint32_t, uint32_t> issued_;          // by stream
  std::map<Key, Clock> known_;                   // for the next task
  std::map<Key, std::map<uint32_t, Clock>> at_;  // by task: the clock at its completion
};

/// How a host instruction accesses a buffer.
struct BufferUse {
  ValueId buffer;
  Access access = Access::kRead;
};
/// The buffers that a task of `host` uses, a group those of its members. An alloc writes its own
/// buffer and the one whose storage it takes. `memory` is the result of buffers_behind().
std::vector<BufferUse> buffer_uses(const Function& host, const Instruction& instruction,
                                   const std::vector<ValueId>& memory);
/// By value: the buffer that it is a view of, or itself.
std::vector<ValueId> buffers_behind(const Function& host);
/// The stream on which an instruction of `host` runs; a group runs on the stream of its first
/// member. Invalid if the instruction is not a task (wait, comm, return).
ValueId task_stream(const Function& host, const Instruction& instruction);

}  // namespace hostir
