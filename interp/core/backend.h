// What executes tasks: the interface between the interpreter and `sim`, `cuda`, `null`.
//
// The interpreter owns host control flow, names of events, sequence numbers, the ledger and all
// checks; a backend owns queues, memory and execution. The interpreter prepares a backend once per
// run, then issues tasks in the order in which the ranks' hosts run, and polls for completions. A
// backend may hold a subset of the ranks (one process per GPU). Threads: all calls come from one
// thread. A backend may use threads of its own inside a call. Lifetime: `Code` outlives the
// backend's use of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/tensor.h"
#include "interp/core/code.h"
#include "interp/core/element.h"
#include "interp/core/ids.h"

namespace hostir::interp {

struct Capabilities {
  std::string name;               // "sim", "null", "cuda"
  bool virtual_time = false;      // times are computed, not measured
  bool checkpoints = false;       // checkpoint()/restore() work
  bool reads_values = false;      // read() works
  std::vector<Rank> local_ranks;  // empty: all
};

/// A buffer as an operand of one task: an allocation and the part of it that is seen.
/// Byte ranges are relative to the allocation; checks and races work on them.
struct BufferRef {
  AllocationId allocation;  // invalid: `none`
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;                // contiguous extent that may be touched
  std::vector<int64_t> strides_elems;    // empty: contiguous in the placement's order
  const Placement* placement = nullptr;  // layout before the task; owned by Code or the interpreter
  const Placement* after = nullptr;      // layout after it, where the instruction changes it
  Access access = Access::kUse;
};

/// One collective or send/recv of a task, resolved for the issuing rank.
struct CommunicationItem {
  CodeIndex code = 0;  // the instruction
  CommIndex comm = 0;
  uint64_t sequence = 0;          // per communicator and rank; for send/recv: ordinal of (src, dst)
  std::span<const Rank> members;  // the group of the issuing rank, in group order
  int32_t position = 0;           // of the issuing rank in `members`
  int32_t peer = -1;              // send/recv: position
  int32_t root = -1;              // rooted collectives: position
  std::vector<std::pair<int32_t, int32_t>> pairs;  // permute: (source, target) positions
  std::vector<int64_t> send_counts;                // elements to each member; all_to_all(v)
  std::vector<int64_t> recv_counts;  // elements from each member: all_gather(v), all_to_all(v)
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kF32;
  BufferRef in;
  BufferRef out;  // same as `in` for rw operands
};

/// One issued task. Spans and references are valid during issue() only.
struct Task {
  TaskId id = kNoTask;
  Rank rank = 0;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  StreamIndex stream = 0;
  int64_t issued_ns = 0;                     // the rank's host clock after issuing
  std::span<const TaskId> waits_for;         // extra dependencies: `wait %e on %s`
  std::span<const BufferRef> buffers;        // launch: ro, wo, rw operands; alloc, free: one
  std::span<const CommunicationItem> items;  // one; several for `group { }`
};

struct Completion {
  TaskId id = kNoTask;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int64_t queued_ns = 0;  // when it reached the head of its stream with all waits done
};

/// What a rank's host thread is doing, so that a backend in virtual time knows which tasks can
/// still arrive: no task of this rank can be issued before `clock_ns`.
struct HostState {
  enum class Kind : uint8_t { kRunnable, kBlocked, kDone } kind = Kind::kRunnable;
  int64_t clock_ns = 0;
  TaskId waits_for = kNoTask;  // kBlocked: the task whose completion resumes it
};

/// Digest and statistics of a written buffer, made when the task completes (sim).
struct ValueSummary {
  TaskId task = kNoTask;
  Rank rank = 0;
  AllocationId allocation;
  uint16_t operand = 0;  // index into the task's written buffers
  uint64_t digest = 0;   // xxh3 of the local bytes in row-major order
  bool has_stats = false;
  double min = 0, max = 0, mean = 0;
  int64_t nan_count = 0, inf_count = 0;
  std::span<const std::byte> data;  // empty unless asked for; valid during the call
};

/// The work of one launch on one rank, and the least time that the machine allows for it; zeros
/// where it is not known.
struct KernelWork {
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  double limit_ns = 0;
};

/// Receives what poll() found, in order of finish time, then rank, then id.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void completed(const Completion& completion) = 0;
  virtual void value(const ValueSummary& summary) = 0;
};

/// A piece of memory that checkpoints share; `id` is equal where it is the same piece.
struct MemoryBlock {
  const void* id = nullptr;
  int64_t bytes = 0;
};

/// Opaque state of a backend between tasks; cheap to keep (copy-on-write).
class BackendCheckpoint {
 public:
  virtual ~BackendCheckpoint() = default;
  virtual int64_t memory_bytes() const = 0;  // what only this checkpoint keeps alive, about
  /// Everything it keeps alive, so that what several checkpoints share is counted once.
  virtual std::vector<MemoryBlock> blocks() const { return {{this, memory_bytes()}}; }
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Capabilities capabilities() const = 0;

  /// Compiles kernels, makes queues. Called once, before anything else. Errors: kernels that cannot
  /// be compiled, memory limits, missing devices.
  virtual Expected<void> prepare(const Code& code) = 0;

  /// The contents of a parameter on one rank, dense over `placement.box`; before the first issue or
  /// as an edit between decisions.
  virtual Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                               int64_t offset_bytes, std::span<const std::byte> data) = 0;

  /// Never blocks. Tasks of one rank arrive in order of `id`. A task that cannot be done is refused
  /// with the reason, which is the backend's and valid until the next call; the run is then over.
  /// nullptr: taken.
  virtual const Error* issue(const Task& task) = 0;

  /// Delivers what has completed. `sim` advances virtual time as far as `hosts` allow (nothing may
  /// complete that a later issue could still precede); `cuda` queries events. Returns the number of
  /// completions; 0 with every host blocked means that nothing will ever complete.
  virtual int64_t poll(std::span<const HostState> hosts, CompletionSink& sink) = 0;

  /// Contents in row-major order of `box` (global coordinates inside the placement's box), as the
  /// buffer is now: writes of tasks in flight are not visible.
  virtual Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const = 0;

  /// Errors: `backend_no_checkpoint` where capabilities say so.
  virtual Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const = 0;
  virtual Expected<void> restore(const BackendCheckpoint& checkpoint) = 0;

  /// Which digests and statistics to make for written values.
  enum class ValueMode : uint8_t { kNone, kDigest, kStats };
  virtual void set_value_mode(ValueMode mode) = 0;

  /// One line for the log about a code instruction: "onednn avx512_core matmul+gelu ..."; may be
  /// empty.
  virtual std::string describe(CodeIndex code, Rank rank) const = 0;

  /// Of a launch, for the log.
  virtual KernelWork kernel_work(CodeIndex /*code*/, Rank /*rank*/) const { return {}; }

  /// One element of what a launch writes, from its operands as they are now; nothing is changed.
  /// Errors: `no_element` where the backend does not evaluate, those of binding the kernel.
  virtual Expected<LaunchElement> launch_element(const LaunchQuestion& question);
  /// The same for a communication. Errors: `no_element`.
  virtual Expected<ExchangeElement> exchange_element(const ExchangeQuestion& question);
};

}  // namespace hostir::interp
