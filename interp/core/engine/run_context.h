// What the parts of the interpreter share: the program, the state of the run, and the append-only
// tables that the state refers to.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "interp/core/interpreter.h"
#include "interp/core/loop_paths.h"
#include "interp/core/state.h"

namespace hostir::interp {

/// Strided shapes by number, each once. Number 0 means contiguous.
class ShapeTable {
 public:
  ShapeTable() : shapes_(1) {}
  const StridedShape& operator[](uint32_t shape) const { return shapes_[shape]; }
  /// The shape of a view with these extents; 0 if it is contiguous.
  uint32_t of_view(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides_elems,
                   int64_t element_bytes);

 private:
  uint32_t intern(StridedShape shape);

  std::deque<StridedShape> shapes_;  // index 0 is unused
  std::map<std::vector<int64_t>, uint32_t> index_;
};

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

struct RunContext {
  RunContext(std::shared_ptr<const Code> program, Backend& device, TraceSink* log,
             const InterpreterOptions& run_options);

  /// Ranks with a state: those of the code, or 1 (InterpreterOptions::States).
  Rank rank_count() const { return static_cast<Rank>(state.ranks.size()); }
  /// Rank 0 runs for all: the others have no state.
  bool runs_for_all() const { return options.states == InterpreterOptions::States::kFirst; }
  bool checks_all() const { return options.checks == InterpreterOptions::Checks::kAll; }
  bool is_logging() const { return sink != nullptr && logging == Interpreter::Logging::kOn; }
  /// Row `row` of a rank's clocks: a stream, or the host after the streams.
  uint32_t* clock_row(RankState& rank, size_t row) const {
    return rank.clocks.data() + row * clock_stride;
  }

  std::shared_ptr<const Code> code;
  Backend& backend;
  TraceSink* sink = nullptr;
  InterpreterOptions options;
  Interpreter::Logging logging = Interpreter::Logging::kOn;
  uint32_t branch = 0;
  State state;

  bool clock_is_measured = false;  // measured by the backend, not counted here
  bool plans_tasks = false;        // the backend may have plans for tasks
  size_t clock_stride = 0;         // of RankState::clocks

  LoopPathTable paths;
  ShapeTable shapes;
  std::deque<Placement> dynamic_placements;  // placements that depend on sizes read at run time
};

/// Event of an operand: kNoTask for `none`.
inline TaskId event_of(const RankState& rank, uint32_t reg) {
  return reg == kNoRegister ? kNoTask : static_cast<TaskId>(rank.registers[reg].value);
}

// ---- heads of streams (views.cpp) ----
/// The first unfinished task of a stream; nullptr: there is none.
const TaskRecord* head_of(const RunContext& run, Rank rank, StreamIndex stream);
bool waits_for_events(const RunContext& run, Rank rank, const TaskRecord& task);
/// Issued and not done, at the head of its stream, with all its dependencies complete.
bool is_ready(const RunContext& run, Rank rank, const Arrival& arrival);

// ---- the run as data (run_model.cpp) ----
/// Everything known about the run now.
model::Run run_model_of(const RunContext& run);
/// The call that a member made, as a model::Call.
model::Call call_of(const Arrival& arrival);
void log_rank_states(const RunContext& run);

}  // namespace hostir::interp
