// The execution interface between the interpreter and the `sim`, `cuda` and `null` backends.
//
// The interpreter owns host control flow, event names, sequence numbers, the ledger and all checks.
// A backend owns queues, memory, execution and, where times are measured, the clock. The
// interpreter prepares a backend once per run, issues tasks in the order in which the ranks' hosts
// run, and polls for completions. A backend may hold a subset of the ranks (one process per GPU);
// it then decides when a meeting with remote members completes. Features that only some backends
// have (checkpoints, element queries, other processes) are separate interfaces. Callers check
// capabilities(), never a backend's name.
// Threads: all calls come from one thread. A backend may use its own threads inside a call.
// Lifetime: `Code` outlives the backend's use of it.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/tensor.h"
#include "interp/core/code/code.h"
#include "interp/core/element.h"
#include "interp/core/engine/member_counts.h"
#include "interp/core/ids.h"
#include "kernels/common/kernel_work.h"

namespace hostir::interp {

/// The clock that a timestamp was read from.
enum class ClockDomain : uint8_t {
  kVirtual,  // computed by the backend, from 0
  kHost,     // this process' steady clock, from the start of the run
  kDevice,   // a device's clock, shifted to kHost by an offset measured during the run
};
/// `virtual`, `host`, `device`.
std::string_view name(ClockDomain domain);

struct Capabilities {
  std::string name;  // for messages and the log
  /// The host clock. kVirtual: the interpreter adds `issue_ns` per instruction; otherwise it calls
  /// now_ns().
  ClockDomain clock = ClockDomain::kHost;
  bool reads_values = false;      // read() returns what the program computed
  bool plans_tasks = false;       // plan() returns plans
  std::vector<Rank> local_ranks;  // empty: all
};

/// A buffer operand of one task: an allocation and the part of it that the operand views. Byte
/// ranges are relative to the allocation; the access checks and the race checks use them.
struct BufferRef {
  AllocationId allocation;  // invalid: `none`
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;                // contiguous extent that may be touched
  std::vector<int64_t> strides_elems;    // empty: contiguous in the placement's order
  const Placement* placement = nullptr;  // layout before the task; owned by Code or the interpreter
  const Placement* after = nullptr;      // layout after it, if the instruction changes it
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
  /// permute: (source, target) positions. These lists are the interpreter's and live as long.
  std::span<const std::pair<int32_t, int32_t>> pairs;
  MemberCounts send_counts;  // elements to each member; all_to_all(v)
  MemberCounts recv_counts;  // elements from each member: all_gather(v), all_to_all(v)
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kF32;
  BufferRef in;
  BufferRef out;  // same as `in` for rw operands

  bool is_pair() const { return peer >= 0; }  // send or recv
  bool sends() const { return is_pair() && in.allocation.valid(); }
  /// The other rank of a pair.
  Rank other() const { return members[static_cast<size_t>(peer)]; }
};

/// Identifies the members of a meeting: a collective of a group, or a (source, target) pair.
struct MeetingKey {
  CommIndex comm = 0;
  Rank first = 0;       // first member of the group
  int32_t source = -1;  // of a pair: position
  int32_t target = -1;  // of a pair: position
  uint64_t sequence = 0;
  bool into_buffer = false;  // the sender's half of a buffered transfer: a meeting of one
  friend auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

/// The meeting of an item that `rank` issues.
MeetingKey key_of(Rank rank, const CommunicationItem& item);

/// What a backend has prepared for an instruction on a rank: resolved shapes, selected kernels,
/// packed arguments. The interpreter never modifies it; it keeps it with its own plan and drops it
/// when a layout changes.
class TaskPlan {
 public:
  virtual ~TaskPlan() = default;
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
  TaskPlan* plan = nullptr;  // from an earlier plan() for operands with the same layouts
};

struct Completion {
  TaskId id = kNoTask;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int64_t queued_ns = 0;  // when it reached the head of its stream with all waits done
  ClockDomain clock = ClockDomain::kVirtual;
};

/// The result of a poll.
enum class Progress : uint8_t {
  kProgressed,  // something completed or failed
  kPending,     // nothing yet, but work is in progress, here or in another process
  kQuiescent,   // nothing, and nothing will complete unless a host issues more work
};

/// An instruction that starts this long after its issue, each time that the rank issues it: forces
/// one order of two accesses that nothing orders. Virtual clocks only.
struct StartDelay {
  Rank rank = 0;  // kNoRank: every rank
  CodeIndex code = 0;
  int64_t delay_ns = 0;
};

/// The state of a rank's host thread. A virtual-time backend uses it to bound which tasks can still
/// arrive: this rank issues no task before `clock_ns`.
struct HostState {
  enum class Kind : uint8_t { kRunnable, kBlocked, kDone, kRemote } kind = Kind::kRunnable;
  int64_t clock_ns = 0;
  TaskId waits_for = kNoTask;  // kBlocked: the task whose completion resumes it
};

/// The states of all ranks' hosts at a poll.
struct Hosts {
  /// For backends that do not track changes.
  Hosts(std::span<const HostState> all) : states(all) {}
  Hosts(const std::vector<HostState>& all) : states(all) {}
  Hosts(std::span<const HostState> all, std::span<const Rank> moved)
      : states(all), changed(moved) {}

  std::span<const HostState> states;  // by rank
  /// The ranks whose host may differ from the last poll, so that a poll need not check all of them;
  /// nullopt: any.
  std::optional<std::span<const Rank>> changed;
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

/// Receives what poll() found, ordered by finish time, then rank, then task id.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void completed(const Completion& completion) = 0;
  virtual void value(const ValueSummary& summary) = 0;
  /// An accepted task that cannot complete (a device error, a dead peer). kNoTask if the task is
  /// unknown. The run is over.
  virtual void failed(TaskId /*task*/, const Error& /*why*/) {}
};

/// A block of memory that checkpoints may share; equal `id` means the same block.
struct MemoryBlock {
  const void* id = nullptr;
  int64_t bytes = 0;
};

/// Opaque state of a backend between tasks; cheap to keep (copy-on-write).
class BackendCheckpoint {
 public:
  virtual ~BackendCheckpoint() = default;
  /// About how many bytes only this checkpoint keeps alive.
  virtual int64_t memory_bytes() const = 0;
  /// All blocks it keeps alive, so that callers count blocks shared between checkpoints once.
  virtual std::vector<MemoryBlock> blocks() const { return {{this, memory_bytes()}}; }
};

/// Optional: saves and restores the whole backend between two tasks.
class Checkpoints {
 public:
  virtual ~Checkpoints() = default;
  virtual Expected<std::unique_ptr<BackendCheckpoint>> checkpoint() const = 0;
  virtual Expected<void> restore(const BackendCheckpoint& checkpoint) = 0;
};

/// Optional: explains how one element of a result was computed. Queries change nothing.
class ElementQueries {
 public:
  virtual ~ElementQueries() = default;
  /// One element written by a launch, computed from the current contents of its operands.
  /// Errors: those of binding the kernel.
  virtual Expected<LaunchElement> launch_element(const LaunchQuery& query) = 0;
  /// The same for a communication op.
  virtual Expected<ExchangeElement> exchange_element(const ExchangeQuery& query) = 0;
};

/// Optional: exchanges control data with the other processes of the run (rank positions, parts of
/// results).
/// Equivalent to: the store of a process group.
class Peers {
 public:
  struct Answer {
    std::optional<std::string> text;
    std::string why_not;  // if there is no text: `did not answer within 3 s`
  };
  virtual ~Peers() = default;
  virtual int process() const = 0;
  virtual std::vector<Rank> ranks_of(int process) const = 0;
  /// Publishes `mine` and collects the text of every process on this topic, indexed by process.
  /// Blocks until all have answered or are known to be dead, or until the timeout. Texts may
  /// contain any bytes.
  virtual std::vector<Answer> exchange(const std::string& topic, std::string mine,
                                       int64_t timeout_ns) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Capabilities capabilities() const = 0;

  /// Compiles kernels, creates queues, connects to the other processes. Called once, before any
  /// other call.
  /// Errors: kernels that do not compile, memory limits, missing devices, processes that do not
  /// connect.
  virtual Expected<void> prepare(const Code& code) = 0;

  /// The host clock; used only if capabilities() reports a clock that is not virtual.
  virtual int64_t now_ns() const { return 0; }

  /// Writes the contents of a parameter on one rank, dense over `placement.box`. Called before the
  /// first issue, or between decisions as an edit.
  virtual Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                               int64_t offset_bytes, std::span<const std::byte> data) = 0;

  /// Prepares what later tasks of this instruction and rank can share if their layouts match; only
  /// their addresses may differ from `task`. Called once, before the first of these tasks is
  /// issued. nullptr: issue() needs no plan.
  /// Errors: the same refusals as issue().
  virtual Expected<std::unique_ptr<TaskPlan>> plan(const Task& task);

  /// Never blocks. Tasks of one rank arrive in order of `id`. The tasks of one call are accepted
  /// together or not at all, and start together where the device supports it (NCCL groups). Returns
  /// nullptr if accepted. Otherwise returns the reason, owned by the backend and valid until the
  /// next call; the run is then over.
  virtual const Error* issue(std::span<const Task> tasks) = 0;

  /// Delivers completed tasks. `sim` advances virtual time as far as `hosts` allow (it completes
  /// nothing that a later issue could still precede); `cuda` queries events. Only kQuiescent with
  /// every host blocked means that nothing will ever complete.
  virtual Progress poll(const Hosts& hosts, CompletionSink& sink) = 0;

  /// Like poll(), but if nothing has completed, sleeps until something does or `timeout_ns` of real
  /// time have passed; then kPending.
  virtual Progress wait(const Hosts& hosts, CompletionSink& sink, int64_t timeout_ns);

  /// The current contents of `box` in row-major order (global coordinates inside the placement's
  /// box). Writes of tasks in flight are not visible.
  virtual Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const = 0;

  /// Which digests and statistics to compute for written values.
  enum class ValueMode : uint8_t { kNone, kDigest, kStats };
  virtual void set_value_mode(ValueMode mode) = 0;

  /// If set, each completion is delivered before a later task of any rank can overwrite its output.
  /// Recording values needs this. Costs overlap on devices that overlap work.
  virtual void set_stepwise(bool /*stepwise*/) {}

  /// kCoarse: task times are not recorded, so several completions may be found at once and share
  /// one time. Call before the first issue; the default is kExact.
  enum class Times : uint8_t { kExact, kCoarse };
  virtual void set_times(Times /*times*/) {}

  /// Prepares for another run of the same code after a run that has ended: frees what the program
  /// allocated; keeps kernels, connections, parameters and cached memory. Returns false if the
  /// backend cannot do this, for example after a failure; the next run then needs a new backend.
  virtual bool restart() { return false; }

  /// One line for the log about a code instruction: "onednn avx512_core matmul+gelu ..."; may be
  /// empty.
  virtual std::string describe(CodeIndex code, Rank rank) const = 0;

  /// The work of a launch, for the log.
  virtual kernels::KernelWork kernel_work(CodeIndex /*code*/, Rank /*rank*/) const { return {}; }

  /// Named facts about devices, clocks and libraries, for the log.
  virtual std::vector<std::pair<std::string, std::string>> properties() const { return {}; }

  // Optional interfaces; nullptr if unsupported. Owned by the backend.
  virtual Checkpoints* checkpoints() { return nullptr; }
  virtual ElementQueries* elements() { return nullptr; }
  virtual Peers* peers() { return nullptr; }
};

}  // namespace hostir::interp
