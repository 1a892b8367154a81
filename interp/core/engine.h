// Internals of the Interpreter, shared only by interpreter.cpp, the checks and host_ops/.
//
// Engine holds the state, the caches that are not state, and the building blocks of host ops:
// evaluating expressions, opening buffers, beginning and issuing tasks, arriving at meetings. Each
// returns false after a fatal fault; the caller then returns false at once.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "interp/core/interpreter.h"
#include "interp/core/loop_paths.h"
#include "interp/core/remote.h"
#include "interp/core/run_queue.h"
#include "interp/core/state.h"
#include "interp/model/run.h"

namespace hostir::interp {

class Engine;
/// True if two members of a collective issued matching calls (meetings.cpp).
bool arrivals_agree(const Arrival& a, const Arrival& b);
struct CommunicationFacts;
struct CommunicationSides;

/// One instruction being executed on one rank.
struct Step {
  RankState& rank_state;
  const CodeInstruction& code;
  Rank rank = 0;
  CodeIndex index = 0;
  CodeIndex next = 0;
  TaskId task = kNoTask;
  TaskId waits_for = kNoTask;
  int64_t waited_ns = 0;
  int64_t bytes = 0;
  uint64_t sequence = 0;
  CommIndex comm = kNoComm;
  int32_t peer = -1;
  const Arrival* arrival = nullptr;  // for communication ops
};

/// The part of a buffer operand on one rank that does not change between executions.
struct PlannedBuffer {
  uint32_t operand = 0;  // index in CodeInstruction::operands
  uint32_t reg = 0;
  uint32_t shape = 0;  // strided shape that the BufferRef's strides belong to
  LayoutIndex after = kNoLayout;
  int64_t bytes = 0;            // of a contiguous view
  bool ready = false;           // layouts are static and set in the BufferRef; no strides
  Allocation* bound = nullptr;  // set by the last bind_buffers(), for the checks right after it
};

/// Created at the first execution of an instruction on a rank, so that later executions allocate
/// nothing.
struct IssuePlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<BufferRef> refs;  // parallel to `buffers`
  ResolvedCall communication;
  bool communication_fixed = false;      // nothing in it depends on registers
  const Placement* allocated = nullptr;  // alloc with a static layout
  int64_t allocated_bytes = 0;
  // The backend's plan, and the placements (before and after, by buffer) it was made for.
  std::unique_ptr<TaskPlan> backend_plan;
  std::vector<const Placement*> planned_placements;
  bool backend_planned = false;
};

/// What a decision reads first, stored contiguously because CodeInstructions are large.
struct Dispatch {
  bool (*execute)(Engine&, Step&) = nullptr;  // nullptr for glue
  bool waits_on_host = false;
};

class Engine final : public CompletionSink {
 public:
  Engine(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
         const InterpreterOptions& run_options);

  // ---- decisions (engine.cpp) ----
  void start();
  StepResult step(Rank rank);
  /// Runs one decision of a rank that can take one; returns the task it issued.
  TaskId decide(Rank rank);
  /// next_rank() after the last decision, for callers that always continue with the next rank.
  Rank upcoming = kNoRank;
  /// Polls, concludes if nothing can move, and returns the next rank.
  Rank advance_until_runnable();
  Progress poll() {
    if (state.in_flight == 0) return Progress::kQuiescent;
    return backend.poll({hosts, take_moved_hosts()}, *this);
  }
  void conclude();
  /// Ranks with a state: those of the code, or 1 (InterpreterOptions::States).
  Rank rank_count() const { return static_cast<Rank>(state.ranks.size()); }
  /// Rank 0 runs for all: the others have no state.
  bool runs_for_all() const { return options.states == InterpreterOptions::States::kFirst; }
  Rank next_rank() const { return state.failed ? kNoRank : run_queue.first(); }
  void refresh(Rank rank);  // status and scheduler key after anything that may have changed them
  void freeze(Rank rank, bool frozen);
  void rebuild_hosts();
  /// The whole box of a buffer. For a rank of another process, the part that it reported.
  Expected<Tensor> read_part(Rank rank, const BufferRef& ref) const;
  Expected<void> edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                      std::span<const std::byte> data);

  // ---- heads of streams (views.cpp) ----
  /// The first unfinished task of a stream; nullptr: there is none.
  const TaskRecord* head(Rank rank, StreamIndex stream) const;
  bool waits_for_events(Rank rank, const TaskRecord& task) const;
  /// Issued and not done, at the head of its stream, with all its dependencies complete.
  bool is_ready(Rank rank, const Arrival& arrival) const;

  // ---- completions (completions.cpp) ----
  void completed(const Completion& completion) override;
  void value(const ValueSummary& summary) override;
  void failed(TaskId task, const Error& why) override;
  void exceed_memory(Rank rank, const TaskRecord& task);

  // ---- faults (faults.cpp) ----
  /// Records a fault at this instruction. Returns false if it is fatal.
  bool fault(const Step& step, std::string id, const std::string& what);
  bool warn(const Step& step, std::string id, const std::string& what,  // not fatal
            Severity severity = Severity::kError);
  bool refuse_task(const Step& step, const Error& why);  // the backend's reason as a fault
  /// The operands the instruction would get if the rank executed it now. Changes only caches.
  Expected<OperandsNow> operands_now(Rank rank, CodeIndex index);
  /// If set, the first fault's sentence is stored here instead of recording the fault.
  std::optional<std::string>* looking = nullptr;
  Fault fault_at(const Step& step) const;
  void record_fault(Fault fault);
  std::string name_of(const Step& step) const;  // `@f#9 launch`
  std::string name_of(CodeIndex code) const;
  std::string note_line(Rank rank, CodeIndex code, LoopPathId path) const;

  // ---- pieces of host ops (buffers.cpp, tasks.cpp) ----
  bool evaluate(const Step& step, IndexCodeId expr, int64_t& out);
  void move_registers(RankState& rank, const std::vector<RegisterMove>& moves) {
    if (moves.size() > 1) return move_many(rank, moves);
    for (const RegisterMove& m : moves) {
      rank.registers[m.to] = m.from == kNoRegister ? Register{} : rank.registers[m.from];
    }
  }
  void move_many(RankState& rank, const std::vector<RegisterMove>& moves);
  const Placement* placement(const Step& step, LayoutIndex layout);
  /// True if the buffer that a register with a slot names has not been freed or given away.
  static bool names_live(const RankState& rank, const Register& name);
  /// The allocation behind an operand, checked to be alive; nullptr after a fault.
  Allocation* open(const Step& step, uint32_t operand);
  /// The buffer a name refers to; nullopt if its allocation is gone.
  std::optional<BufferRef> buffer_of(const RankState& rank, const Register& name) const;
  uint32_t intern_shape(StridedShape shape);
  IssuePlan& plan(const Step& step) {
    IssuePlan* known = plan_at(step).get();
    return known != nullptr ? *known : make_plan(step);
  }
  std::unique_ptr<IssuePlan>& plan_at(const Step& step) {
    return plans[static_cast<size_t>(step.index) * state.ranks.size() +
                 static_cast<size_t>(step.rank)];
  }
  IssuePlan& make_plan(const Step& step);
  bool bind_slowly(const Step& step, PlannedBuffer& planned, BufferRef& ref, const Register& name);
  bool refuse(const Step& step, const PlannedBuffer& planned, const BufferRef& ref);
  /// The outputs of a launch must not share a byte with its other operands.
  bool check_launch_overlap(const Step& step, const IssuePlan& plan);
  /// Fills the plan's BufferRefs for this execution and checks lifetime and bounds.
  bool bind_buffers(const Step& step, IssuePlan& plan);
  /// Checks and records the accesses of the task just begun. `item` is set for communication.
  bool note_accesses(Step& step, const IssuePlan& plan, const CommunicationItem* item = nullptr);
  /// The bytes that a communication sends from this rank. In-place all_gather: its own block;
  /// broadcast: nothing except at the root; all_to_all: as many as the counts say.
  static ByteRange sent_bytes(const CommunicationItem& item, const CommunicationFacts& facts);
  /// The bytes that a communication overwrites on this rank; the others keep what they hold. Rooted
  /// reduce and gather: nothing except at the root; all_to_all: as many as the counts say.
  static ByteRange received_bytes(const CommunicationItem& item, const CommunicationFacts& facts);
  bool note_access(Step& step, Allocation& a, uint32_t reg, const AccessRecord& access) {
    WholeAccesses& w = a.whole;
    const bool whole = access.lo == 0 && access.hi == a.bytes && a.accesses.empty();
    if (whole && (w.stream == access.stream || w.empty() || passes_on(step, w, access))) {
      w.stream = access.stream;
      if (access.kind == AccessRecord::Kind::kRead) {
        w.read = access.sequence;
        w.read_code = access.code;
      } else {
        w.write = access.sequence;
        w.write_code = access.code;
        w.write_kind = access.kind;
        w.read = 0;
      }
      return true;
    }
    return note_in_list(step, a, reg, access);
  }
  /// If this is a write on another stream, ordered after all recorded accesses, only this write
  /// counts from now on.
  bool passes_on(const Step& step, WholeAccesses& w, const AccessRecord& access) {
    if (access.kind == AccessRecord::Kind::kRead) return false;
    const uint32_t known = clock_row(step.rank_state, access.stream)[w.stream];
    return w.write <= known && w.read <= known;
  }
  bool note_in_list(Step& step, Allocation& allocation, uint32_t reg, const AccessRecord& access);
  bool check_read(Step& step, const Allocation& allocation, uint32_t reg, ByteRange range,
                  uint32_t shape);
  void note_written(Allocation& allocation, ByteRange range, uint32_t shape);
  BufferAccess access_of(const Step& step, const PlannedBuffer& planned,
                         const BufferRef& ref) const {
    const Register& name = step.rank_state.registers[planned.reg];
    const ByteRange range{ref.offset_bytes, ref.offset_bytes + ref.size_bytes};
    return {name.slot,     planned.reg, name.shape, range, ref.access,
            planned.after, ref.after,   step.index, range};
  }
  /// Only the bytes that the communication reads and writes.
  BufferAccess access_of(const Step& step, const PlannedBuffer& planned, const BufferRef& ref,
                         const CommunicationItem& item) const;
  /// Processes one buffer of the task just begun on `stream`: checks, then version and layout.
  bool touch(Step& step, StreamIndex stream, const BufferAccess& touch) {
    Allocation& a = step.rank_state.allocations[touch.slot];
    const bool writes = touch.access != Access::kRead;
    if (options.checks == InterpreterOptions::Checks::kAll && touch.range.lo < touch.range.hi) {
      if (!a.initialised && touch.access != Access::kWrite && touch.reads.lo < touch.reads.hi &&
          !check_read(step, a, touch.reg, touch.reads, touch.shape)) {
        return false;
      }
      const AccessRecord access{touch.range.lo,
                                touch.range.hi,
                                touch.shape,
                                stream,
                                step.rank_state.streams[stream].issued,
                                touch.code,
                                writes ? AccessRecord::Kind::kWrite : AccessRecord::Kind::kRead};
      if (!note_access(step, a, touch.reg, access)) return false;
    }
    if (writes) note_write(step, a, touch);
    return true;
  }
  void note_write(const Step& step, Allocation& allocation, const BufferAccess& touch);
  bool check_host_read(Step& step, const BufferRef& ref);
  /// The strided shape of a view with these extents; 0 if it is contiguous.
  uint32_t shape_of_view(const std::vector<int64_t>& extents,
                         const std::vector<int64_t>& strides_elems, int64_t element_bytes);

  /// Assigns the task its number and its place on the stream; sets `step.task`.
  TaskRecord& begin_task(Step& step, StreamIndex stream);
  /// Passes the task to the backend; false after a fault if the backend refuses it.
  bool issue(Step& step, TaskRecord& task, std::span<const BufferRef> buffers,
             std::span<const CommunicationItem> items);
  bool find_plan(const Step& step, Task& task);
  void set_event(Step& step, size_t result);
  uint32_t* clock_row(RankState& rank, size_t row) {
    return rank.clocks.data() + row * clock_stride;
  }
  std::span<const TaskId> take_waits(RankState& rank, StreamState& queue, const TaskRecord& task);
  /// Event of an operand: kNoTask for `none`.
  TaskId event_of(const RankState& rank, uint32_t reg) const {
    return reg == kNoRegister ? kNoTask : static_cast<TaskId>(rank.registers[reg].value);
  }
  void compact_tasks(RankState& rank);

  // ---- communication (communication.cpp, meetings.cpp) and the run model (run_model.cpp) ----
  bool resolve_communication(Step& step, ResolvedCall& out);
  void move_buffers(IssuePlan& plan, const CommunicationFacts& facts);
  bool resolve_positions(Step& step, CommunicationItem& item, const CommunicationFacts& facts);
  MemberCounts block_counts(const Step& step, std::span<const Rank> members, LayoutIndex block,
                            int64_t total, int64_t row);
  bool check_sides(Step& step, const CommunicationItem& item, const CommunicationFacts& facts,
                   const CommunicationSides& sides);
  bool resolve_block(Step& step, ResolvedCall& out, const CommunicationFacts& facts,
                     const CommunicationSides& sides);
  /// Checks the boxes that the layouts of both sides claim against what the op moves.
  bool check_layouts(Step& step, const ResolvedCall& item, const CommunicationFacts& facts,
                     const CommunicationSides& sides);
  static void resolve_routes(ResolvedCall& out, const Placement* in, const Placement* to);
  void hash_call(const Step& step, ResolvedCall& out) const;
  bool depends_on_nothing(const CodeInstruction& instruction, const IssuePlan& plan) const;
  bool resolve_blocks(Step& step, ResolvedCall& out, const Placement* in, const Placement* to);
  bool check_counts_not_negative(const Step& step, const CommunicationItem& item);
  bool receives_of(Step& step, const CommunicationItem& item, const Placement& to,
                   std::vector<int64_t>& counts);
  bool arrive(Step& step, TaskRecord& task, ResolvedCall& item);
  bool arrive_pair(Step& step, TaskRecord& task, ResolvedCall& item);
  /// Reports the verdict on the current run as a fault; true if nothing is wrong.
  bool report_verdict();
  void log_rank_states();
  /// Everything known about the run now.
  model::Run run_model() const;
  model::Member member_of(Rank rank, const Arrival& arrival) const;
  /// Bytes as nccl-tests counts them: the whole if the op has one, else this rank's part.
  int64_t communication_bytes(const ResolvedCall& item) const;
  /// Input and output of a collective may overlap only in NCCL's in-place form.
  bool check_overlap(Step& step, const ResolvedCall& item);
  void mark_finished(const TaskRecord& task, TaskId id, Rank rank);

  // ---- suspicions of races (races.cpp) ----
  bool suspect(Step& step, uint32_t reg, const AccessRecord& first, const AccessRecord& second);
  enum class Order : uint8_t { kOrdered, kUnordered, kUnknown };
  Order order_through_others(Rank rank, const std::vector<uint32_t>& clock,
                             const AccessRecord& first) const;
  void revisit_suspicions(bool last_chance);
  void report_race(const Suspicion& suspicion);
  bool known_race(const std::string& id, const std::vector<std::string>& where, Rank rank);
  std::string touched_text(const Suspicion& suspicion) const;
  void name_other_ranks();  // when the run is concluded
  /// Members of a group run together: none may write what another one accesses.
  void check_group_overlap(const Step& step, std::span<const ResolvedCall> members);
  bool overlap(const AccessRecord& a, const AccessRecord& b) const;

  std::shared_ptr<const Code> code;
  Backend& backend;
  TraceSink* sink = nullptr;
  InterpreterOptions options;
  CompletionSink* observer = nullptr;
  CompletionSink* watcher = nullptr;  // the stepper's breakpoints
  Interpreter::Logging logging = Interpreter::Logging::kOn;
  uint32_t branch = 0;
  State state;

  bool clock_is_measured = false;  // measured by the backend, not counted here
  bool plans_tasks = false;        // the backend may have plans for tasks

  // Caches and append-only tables: not state.
  LoopPathTable paths;
  size_t clock_stride = 0;                        // of RankState::clocks
  std::vector<Dispatch> dispatch;                 // by code
  std::vector<std::unique_ptr<IssuePlan>> plans;  // by code * rank_count() + rank
  std::deque<StridedShape> shapes;                // index 0 is unused
  std::map<std::vector<int64_t>, uint32_t> shape_index;
  MemberCountsTable member_counts;
  /// Blocks by (communicator, group, layout of the block, total, row).
  std::map<std::tuple<CommIndex, int32_t, LayoutIndex, int64_t, int64_t>, MemberCounts> block_index;
  /// Pairs of whole and block layouts that a rank has compared with all members' counts and found
  /// consistent.
  std::set<std::tuple<CommIndex, Rank, LayoutIndex, LayoutIndex, const int64_t*>> agreeing_layouts;
  /// Of `permute`: by (instruction, members, shift).
  std::map<std::tuple<CodeIndex, size_t, int64_t>, std::vector<std::pair<int32_t, int32_t>>> routes;
  std::deque<Placement> dynamic_placements;
  std::map<std::vector<int64_t>, const Placement*> dynamic_index;
  RemoteParts remote;
  std::vector<std::string> absent;  // processes that did not report their rank positions
  std::vector<HostState> hosts;
  RunQueue run_queue;  // host clocks of the ranks that can run
  std::vector<TaskId> wait_scratch;
  std::vector<Register> move_scratch;

 private:
  void execute_glue(RankState& rank) {
    if (dispatch[rank.pc].execute == nullptr) run_glue(rank);
  }
  void run_glue(RankState& rank);
  void advance(Rank r, RankState& rank);
  /// Call whenever a host's state changed.
  void note_host(Rank rank) {
    if (host_moved_[static_cast<size_t>(rank)] != 0) return;
    host_moved_[static_cast<size_t>(rank)] = 1;
    moved_hosts_.push_back(rank);
  }
  /// The ranks that changed since the last call; valid until the next call.
  std::span<const Rank> take_moved_hosts() {
    for (const Rank rank : moved_hosts_) host_moved_[static_cast<size_t>(rank)] = 0;
    told_hosts_.swap(moved_hosts_);
    moved_hosts_.clear();
    return told_hosts_;
  }
  bool exceed_steps(const Step& step);
  Rank advance_when_idle(Progress found);
  void give_up_waiting();  // conclude.cpp
  void ask_peers();
  void log_step(const Step& step, int64_t start_ns, LoopPathId path);
  void check_leaks();

  std::vector<Rank> moved_hosts_;
  std::vector<Rank> told_hosts_;
  std::vector<uint8_t> host_moved_;  // by rank
};

/// `execute_<mnemonic>` in host_ops/<mnemonic>.cpp.
using ExecuteOp = bool (*)(Engine& engine, Step& step);

/// What each rank contributes to and receives from a communication op; `communication_<mnemonic>`
/// in host_ops/<mnemonic>.cpp.
struct CommunicationFacts {
  enum class Part : uint8_t {
    kNone,    // no such operand
    kWhole,   // the same extent on every member
    kBlock,   // this member's block of the whole, blocks in group order
    kBlocks,  // one block per member (all_to_all)
    kFree,    // each member's own extent (permute)
  };
  Part in = Part::kNone;
  Part out = Part::kNone;
  enum class RootHas : uint8_t { kNothing, kInput, kOutput } root = RootHas::kNothing;
  bool point_to_point = false;
};

/// The call that a member made, as a model::Call.
model::Call call_of(const Arrival& arrival);

ExecuteOp execute_op(OpKind kind);
const CommunicationFacts* communication_facts(OpKind kind);  // nullptr for other ops

}  // namespace hostir::interp
