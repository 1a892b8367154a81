// The interpreter: runs one host function on all ranks, one host instruction at a time.
//
// A *decision* is one host instruction executed by one rank. `step(rank)` takes a decision,
// `next_rank()` is the deterministic scheduler's choice (smallest host clock, then rank), `run()`
// continues to the end. The backend is polled after every decision, so that the state after k
// decisions is a function of program, inputs and those decisions alone. All mutable state is in one
// copyable `State`, which `History` saves and restores.
// Ownership: the caller owns code, backend and sink, which outlive the interpreter.
// Threads: one.
// Absent here: breakpoints and stepping (stepper.h), going back (history.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/core/backend.h"
#include "interp/core/code/code.h"
#include "interp/core/fault.h"
#include "interp/core/task_table.h"
#include "interp/core/trace_sink.h"
#include "interp/core/views.h"
#include "interp/model/run.h"

namespace hostir::interp {

struct State;         // everything that a decision can change (state.h)
class LoopPathTable;  // loop_paths.h
class Engine;         // internals (engine.h)

struct InterpreterOptions {
  int64_t issue_ns = 0;     // host cost of one instruction (machine.issue_ns)
  std::vector<Rank> ranks;  // ranks that start; empty: all
  /// kFirst: only rank 0 has a state and runs for all, on a backend that completes its collectives
  /// alone; whether the members of a meeting agree stays unchecked.
  enum class States : uint8_t { kAll, kFirst } states = States::kAll;
  uint64_t max_steps = UINT64_MAX;       // decisions; if exceeded: fault `max_steps`
  int64_t max_memory_bytes = INT64_MAX;  // live bytes of all ranks; if exceeded: fault `max_memory`
  /// Real time without a completion while work is in flight; if exceeded: fault `timeout`. Applies
  /// only to backends that execute asynchronously.
  int64_t timeout_ns = 60'000'000'000;
  enum class Checks : uint8_t { kAll, kNone } checks = Checks::kAll;  // races, uninitialised, ...
};

struct StepResult {
  enum class Outcome : uint8_t {
    kExecuted,
    kBlocked,  // waits on the host for an unfinished task; no effect
    kDone,     // the rank has returned, or never starts; no effect
    kFrozen,   // no effect
    kFault,    // this instruction raised a fault
  } outcome = Outcome::kExecuted;
  Rank rank = kNoRank;
  CodeIndex code = 0;     // the instruction that was executed or is blocked
  TaskId task = kNoTask;  // the task it issued
};

enum class RunEnd : uint8_t { kFinished, kFault, kStuck };

/// The current operands of an instruction on one rank.
struct OperandsNow {
  std::vector<uint32_t> operands;         // by buffer: index among the instruction's operands
  std::vector<BufferRef> buffers;         // parallel to `operands`
  std::optional<CommunicationItem> item;  // set for a communication op
};

class Interpreter {
 public:
  /// Prepares the backend and puts every rank before its first instruction. Parameters are
  /// allocated (poisoned) and must be bound before they are read.
  /// Errors: `run_memory` the ranks do not fit into memory; the backend's.
  static Expected<std::unique_ptr<Interpreter>> create(std::shared_ptr<const Code> code,
                                                       Backend& backend, TraceSink* sink,
                                                       const InterpreterOptions& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // ---- inputs and outputs (binding.cpp) ----
  /// Gives every rank its part of a parameter. A partial parameter is stored at coordinate 0; the
  /// other ranks get the identity.
  /// Errors: `bind_shape`, `bind_dtype`, `bind_parameter`.
  Expected<void> bind(size_t parameter, const Tensor& global);
  /// The n-th returned buffer of a rank; nullopt before its `return`.
  std::optional<BufferRef> result(Rank rank, size_t index) const;
  /// Publishes the positions of this process' ranks to the other processes, for their verdicts.
  void tell_peers() const;
  /// Exchanges the results of all processes, so that result() and read_result() work for remote
  /// ranks. Does nothing if all ranks are local.
  /// Errors: `lost_process`.
  Expected<void> share_results(int64_t timeout_ns);
  /// The value that a local or remote rank returned, over `box`, row-major.
  Expected<Tensor> read_result(Rank rank, size_t index, const Box& box) const;
  /// A returned value assembled from all ranks; partial values are reduced in group order.
  Expected<Tensor> global_result(size_t index) const;

  /// Assembles one value from the parts of all ranks (by rank; empty if a rank has none) under a
  /// layout of the Code. Replicas are read from the first holder, partial parts are reduced.
  Expected<Tensor> assemble(std::span<const std::optional<BufferRef>> parts,
                            LayoutIndex layout) const;

  // ---- decisions ----
  /// Errors: `step_rank` for a rank that does not exist.
  Expected<StepResult> step(Rank rank);
  /// True if step(rank) would execute an instruction.
  bool can_step(Rank rank) const;
  /// Of the runnable ranks that are not frozen, the one with the smallest (host clock, rank).
  std::optional<Rank> next_rank() const;
  void freeze(Rank rank);  // a decision
  void thaw(Rank rank);    // a decision
  /// Overwrites part of a buffer between instructions; a decision.
  Expected<void> edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                      std::span<const std::byte> data);
  /// Runs the scheduler until all ranks have returned and all streams drained, a fault occurs, or
  /// nothing can move.
  RunEnd run();
  /// True when every started rank has returned and every stream has drained.
  bool finished() const;
  /// Call when next_rank() is empty. If not finished(), reports a `deadlock` (or the pending
  /// mismatch) as a fault, unless the other ranks only wait for frozen ones. If finished(), makes
  /// the end-of-run checks (leaks, unmatched sends).
  void conclude();

  // ---- inspection (const, and cheap unless noted) ----
  const Code& code() const;
  Backend& backend() const;
  uint64_t position() const;  // number of decisions taken
  const std::vector<Fault>& faults() const;
  RankView rank(Rank rank) const;
  /// Unfinished tasks of a stream, oldest first. Valid until the next decision.
  std::vector<const TaskRecord*> queue(Rank rank, StreamIndex stream) const;
  /// A task that is unfinished, or whose event a register still holds; else null. Valid until the
  /// next decision.
  const TaskRecord* task(TaskId id) const;
  /// True if other work of the stream precedes the issued task.
  bool is_queued(Rank rank, const Arrival& arrival) const;
  std::vector<AllocationView> allocations(Rank rank) const;  // live ones
  /// The buffer a name refers to now; nullopt if it is not a live buffer.
  std::optional<BufferRef> buffer(Rank rank, uint32_t reg) const;
  std::optional<int64_t> integer(Rank rank, uint32_t reg) const;
  std::vector<MeetingView> ledger() const;  // unfinished meetings and the last 32 per group
  /// Everything known about the run now; expensive.
  model::Run run_model() const;
  const LoopPathTable& loop_paths() const;
  /// The operands an instruction would get if the rank executed it now. Does not execute it;
  /// recomputed on every call; spans point into Code.
  /// Errors: `not_now` with the reason (a buffer that is not live, a rank that is not a member of
  /// any group of the communicator).
  Expected<OperandsNow> operands_now(Rank rank, CodeIndex code);
  int64_t live_bytes(Rank rank) const;
  int64_t peak_bytes(Rank rank) const;

  // ---- for History and Stepper ----
  const State& state() const;
  Engine& engine();
  const Engine& engine() const;
  /// Restores a saved state; the caller must restore the backend to the same point.
  void restore(const State& state);
  enum class Logging : uint8_t { kOn, kSilent };
  void set_logging(Logging logging);
  void set_branch(uint32_t branch);
  /// The code index of the rank's next decision; nullopt if it has returned.
  std::optional<CodeIndex> next_code(Rank rank) const;

 private:
  explicit Interpreter(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace hostir::interp
