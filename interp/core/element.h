// What one element of an instruction's result is made of: questions to a backend, plain answers.
//
// A launch is answered op by op, with the part of each operand that the element needs; a collective
// with the elements of the members' buffers that come in, in the order in which they are combined.
// Values are those of the buffers as they are now; whether these are what the instruction reads is
// for the asker to know. Indices and boxes are global, but for those of kernels' ops, which are in
// the coordinates of the kernel's values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

struct BufferRef;
struct CommunicationItem;

/// A part of one value of a kernel.
struct ElementPart {
  ValueId value;  // of the kernel
  Box box;        // empty: nothing of it is needed
  Tensor tensor;  // of the box's extents
};

/// One op of the kernel on what the element needs.
struct ElementStep {
  InstrId instruction;             // of the kernel
  std::vector<ElementPart> reads;  // by operand
  std::vector<ElementPart> makes;  // by result
};

/// Operands of one launch on one rank, as Task::buffers.
struct LaunchQuestion {
  uint32_t code = 0;
  int32_t rank = 0;
  std::span<const BufferRef> buffers;
  size_t written = 0;  // which of them, wo or rw
  std::vector<int64_t> element;
};

struct LaunchElement {
  const Function* kernel = nullptr;
  std::vector<Placement> values;         // by ValueId: what the rank holds
  std::vector<int> buffer_of_parameter;  // index into the question's buffers
  std::vector<ElementStep> steps;        // those that the element needs, in order
  Tensor value;                          // one element
  /// The kernel ran as the launch runs it, so the bits are those of the launch. Else it is too
  /// large for that and was evaluated on what the element needs: where many terms are added, their
  /// order may be another one.
  bool ran_whole = false;
};

struct ExchangeMember {
  const CommunicationItem* item = nullptr;
  // From the start of the operand to the block of it that takes part (NCCL's in-place forms).
  int64_t in_skipped_bytes = 0;
  int64_t out_skipped_bytes = 0;
};

/// All sides of one collective or send/recv, in group order; the sender first.
struct ExchangeQuestion {
  std::span<const ExchangeMember> members;
  size_t position = 0;           // whose output
  std::vector<int64_t> element;  // of it
};

struct ExchangeSource {
  size_t position = 0;
  std::vector<int64_t> element;  // of that member's input
  Tensor value;                  // one element
  Tensor running;                // after it was combined; of the dtype in which it is done
};

struct ExchangeElement {
  enum class Kind : uint8_t {
    kMoved,     // one source
    kCombined,  // `sources` in order
    kZero,      // nobody sends it
    kKept,      // the collective does not write it
  } kind = Kind::kKept;
  std::vector<ExchangeSource> sources;
  Tensor value;  // one element; of kKept none
  // The cost model's terms for the asking rank, before any schedule stretches them.
  double bytes = 0;       // as nccl-tests counts
  double wire_bytes = 0;  // that times the busbw factor
  double latency_ns = 0;  // of an empty message
  double transfer_ns = 0;
};

}  // namespace hostir::interp
