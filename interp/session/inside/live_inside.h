// Explains an instruction of a live run, with numbers read from the current buffers.
//
// Issued but unfinished work is completed first, on a copy of the device state that is then
// discarded, so that operands have the values the instruction will read. The run itself does not
// change.
#pragma once

#include <set>

#include "interp/core/interpreter.h"
#include "interp/session/inside/inside.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::interp {

/// Errors: `not_written` (the instruction does not write this value), `not_held` (the rank does not
/// hold this element), `no_rank`.
Expected<Inside> look_inside(Interpreter& interpreter, const Snapshot& snapshot,
                             const InsideQuery& query);

// ---- for live_inside*.cpp only

/// Completes everything that can complete on the device; the destructor restores the previous
/// state.
class FinishedDevice final : public CompletionSink {
 public:
  explicit FinishedDevice(Interpreter& interpreter);
  ~FinishedDevice() override;
  FinishedDevice(const FinishedDevice&) = delete;
  FinishedDevice& operator=(const FinishedDevice&) = delete;
  bool finished(TaskId task) const { return done_.contains(task); }

 private:
  void completed(const Completion& completion) override { done_.insert(completion.id); }
  void value(const ValueSummary&) override {}

  Backend& backend_;
  std::unique_ptr<BackendCheckpoint> before_;  // null: the backend has no checkpoints
  std::set<TaskId> done_;
};

/// The error for a backend without `ElementQueries`.
tl::unexpected<Error> no_elements(const Backend& backend);

/// Writes number and range of a part of a tensor as text.
void describe_part(const Tensor& tensor, const Box& box, InsideOperand& out);
/// The terms of a contraction or reduction that computes one element; nullopt for other ops.
std::optional<InsideTerms> terms_of(const Program& program, const Function& kernel,
                                    const ElementStep& step,
                                    const std::vector<InsideOperand>& reads);
/// Fills in the collective part; `out` already has its instruction, value and rank.
Expected<void> look_inside_collective(Interpreter& interpreter, const Snapshot& snapshot,
                                      const InsideQuery& query, Inside& out);
/// The requested element, checked against what the rank holds.
Expected<std::vector<int64_t>> chosen_element(const InsideQuery& query, const std::string& value,
                                              const Placement& placement);

}  // namespace hostir::interp
