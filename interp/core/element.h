// Queries to a backend about how one element of an instruction's result is computed.
//
// A launch is answered op by op, with the part of each operand that the element needs. A collective
// is answered with the members' elements that contribute, in the order in which they are combined.
// Values are read from the buffers as they are now; the caller must know whether these are the
// values that the instruction reads. Indices and boxes are global, except those of a kernel's ops,
// which use the coordinates of the kernel's values.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

struct BufferRef;
struct CommunicationItem;

/// A part of one value in a kernel.
struct ElementPart {
  ValueId value;  // of the kernel
  Box box;        // empty: nothing is needed
  Tensor tensor;  // has the box's extents
};

/// One op of the kernel, restricted to what the element needs.
struct ElementStep {
  InstrId instruction;             // of the kernel
  std::vector<ElementPart> reads;  // by operand
  std::vector<ElementPart> makes;  // by result
};

/// Operands of one launch on one rank, as in Task::buffers.
struct LaunchQuery {
  uint32_t code = 0;
  int32_t rank = 0;
  std::span<const BufferRef> buffers;
  size_t written = 0;  // index of the queried buffer, wo or rw
  std::vector<int64_t> element;
};

struct LaunchElement {
  std::shared_ptr<const Function> kernel;
  std::vector<Placement> values;         // by ValueId: the part on this rank
  std::vector<int> buffer_of_parameter;  // index into the query's buffers
  std::vector<ElementStep> steps;        // the steps the element needs, in order
  Tensor value;                          // one element
  /// True if the whole kernel ran as in the launch, so that the bits are those of the launch.
  /// Otherwise the kernel is too large for that and only what the element needs was evaluated; long
  /// sums may then be in another order.
  bool ran_whole = false;
};

struct ExchangeMember {
  const CommunicationItem* item = nullptr;
  // Bytes from the start of the operand to the block that takes part (NCCL's in-place forms).
  int64_t in_skipped_bytes = 0;
  int64_t out_skipped_bytes = 0;
};

/// All sides of one collective or send/recv, in group order; for send/recv the sender first.
struct ExchangeQuery {
  std::span<const ExchangeMember> members;
  size_t position = 0;           // the member whose output is queried
  std::vector<int64_t> element;  // index in that output
};

struct ExchangeSource {
  size_t position = 0;
  std::vector<int64_t> element;  // index in that member's input
  Tensor value;                  // one element
  Tensor running;                // accumulator after this source, in the accumulation dtype
};

struct ExchangeElement {
  enum class Kind : uint8_t {
    kMoved,     // one source
    kCombined,  // `sources` in order
    kZero,      // no member sends it
    kKept,      // the collective does not write it
  } kind = Kind::kKept;
  std::vector<ExchangeSource> sources;
  Tensor value;  // one element; unset for kKept
  // The cost model's terms for the querying rank, before scheduling effects.
  double bytes = 0;       // as nccl-tests counts
  double wire_bytes = 0;  // `bytes` times the busbw factor
  double latency_ns = 0;  // of an empty message
  double transfer_ns = 0;
};

}  // namespace hostir::interp
