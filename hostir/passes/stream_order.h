// Tracks which tasks each stream knows to be complete.
//
// Uses vector clocks over streams: a task knows that all earlier tasks on its stream are complete,
// and all tasks that were known to the tasks it waited for. This suffices to omit every redundant
// wait. Handles straight-line host functions, in program order.
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
  friend bool operator==(const StreamPoint&, const StreamPoint&) = default;
};

class StreamOrder {
 public:
  /// Issues the next task on a stream.
  StreamPoint issue(ValueId stream);
  /// True if the next task on `stream` can start only after `point` is complete.
  bool knows(ValueId stream, const StreamPoint& point) const;
  /// `stream` waits for `point`.
  void wait(ValueId stream, const StreamPoint& point);

 private:
  using Clock = std::map<uint32_t, uint32_t>;  // stream -> number of tasks known to be complete
  std::map<uint32_t, Clock> known_;            // by stream, for its next task
  std::map<uint32_t, std::vector<Clock>> at_;  // by stream and task: the clock at its completion
};

/// How a host instruction accesses a buffer.
struct BufferUse {
  ValueId buffer;
  Access access = Access::kRead;
};
/// The buffers that a task uses. An alloc writes its own buffer and the one whose storage it takes.
std::vector<BufferUse> buffer_uses(const Instruction& instruction);
/// The stream of a task; invalid if the instruction is not a task (wait, comm, return).
ValueId task_stream(const Instruction& instruction);

}  // namespace hostir
