// What a stream knows to be complete.
//
// Vector clocks over streams: the n-th task of a stream knows everything before it on the stream
// and everything that the tasks it waited for knew. Enough to leave out every wait that follows
// from others. For straight-line host functions, in program order.
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
  /// The next task of a stream.
  StreamPoint issue(ValueId stream);
  /// True if the next task of `stream` can only start after `point` is complete.
  bool knows(ValueId stream, const StreamPoint& point) const;
  /// `stream` waits for `point`.
  void wait(ValueId stream, const StreamPoint& point);

 private:
  using Clock = std::map<uint32_t, uint32_t>;  // stream -> tasks known complete
  std::map<uint32_t, Clock> known_;            // by stream, for its next task
  std::map<uint32_t, std::vector<Clock>> at_;  // by stream and task: what its completion tells
};

/// How an instruction of a host function touches a buffer.
struct BufferUse {
  ValueId buffer;
  Access access = Access::kRead;
};
/// Buffers that a task uses; an alloc writes its own and what it takes storage from.
std::vector<BufferUse> buffer_uses(const Instruction& instruction);
/// The stream that orders the instruction; invalid for one that is no task (wait, comm, return).
ValueId task_stream(const Instruction& instruction);

}  // namespace hostir
