// Looking inside an instruction of a live run: numbers from the buffers as they are.
//
// Work that was issued and has not finished is finished first, on a copy of the device's state that
// is thrown away, so that an operand is what the instruction will read. Nothing of the run changes.
#pragma once

#include <set>

#include "interp/core/interpreter.h"
#include "interp/session/inside.h"
#include "interp/session/snapshot.h"

namespace hostir::interp {

/// Errors: `not_written` a value that the instruction does not write, `not_held` an element that
/// the rank does not hold, `no_rank`.
Expected<Inside> look_inside(Interpreter& interpreter, const Snapshot& snapshot,
                             const InsideQuery& query);

// ---- for live_inside*.cpp only

/// The device with everything finished that can finish; put back when this dies.
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
  std::unique_ptr<BackendCheckpoint> before_;  // null: the backend cannot
  std::set<TaskId> done_;
};

/// Why a backend without `ElementQuestions` has no answer.
tl::unexpected<Error> no_elements(const Backend& backend);

std::optional<AllocationView> find_allocation(const Interpreter& interpreter, Rank rank,
                                              AllocationId id);
/// Number and range of a part of a tensor, as text.
void describe_part(const Tensor& tensor, const Box& box, InsideOperand& out);
/// Terms of a contraction or reduction that makes one element; nothing for other ops.
std::optional<InsideTerms> terms_of(const Program& program, const Function& kernel,
                                    const ElementStep& step,
                                    const std::vector<InsideOperand>& reads);
/// Fills in what a collective does; `out` has its instruction, value and rank.
Expected<void> look_inside_collective(Interpreter& interpreter, const Snapshot& snapshot,
                                      const InsideQuery& query, Inside& out);
/// The element that is meant, checked against what the rank holds.
Expected<std::vector<int64_t>> chosen_element(const InsideQuery& query, const std::string& value,
                                              const Placement& placement);

}  // namespace hostir::interp
