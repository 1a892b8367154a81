// History: one line of decisions, and a position on it.
//
// State k is a function of program, inputs and decisions 0..k-1. The line may be longer than the
// position: after going back, the same decisions taken again follow the line, a different one cuts
// it off and opens a branch. A run that was recorded begins with its whole line ahead. Going back
// restores the nearest checkpoint and executes again, silently. Checkpoints are spaced by measured
// time, so that taking them costs at most a fraction of the run, within a memory budget, thinned
// out with distance; executing again makes new ones, so that going back further stays quick. With a
// backend without checkpoints, going back is an error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/core/interpreter.h"

namespace hostir::interp {

struct Decision {
  DecisionRecord::Kind kind = DecisionRecord::Kind::kRun;
  Rank rank = kNoRank;
  uint32_t edit = 0;  // kEdit: index of the stored bytes
};

/// What was decided in a run that was recorded, to be taken again. An edit names its buffer,
/// because ids are given only when the decision is taken.
struct RecordedEdit {
  std::string buffer;  // as the text says: "%y"
  int64_t offset_bytes = 0;
  std::vector<std::byte> data;
};
struct RecordedLine {
  std::vector<Decision> decisions;
  std::vector<RecordedEdit> edits;  // Decision::edit counts in these
};

struct HistoryOptions {
  int64_t memory_budget_bytes = int64_t{512} << 20;
  int64_t spacing_ns = 5'000'000;  // wall time of execution between checkpoints
};

/// Who moved, and by how many decisions (negative: back).
struct Moved {
  Rank rank = kNoRank;
  int64_t steps = 0;
};

/// The live buffer of that name that was allocated last; nothing if there is none.
std::optional<AllocationId> newest_allocation(const Interpreter& interpreter, Rank rank,
                                              std::string_view buffer);

class History {
 public:
  /// Starts at the interpreter's position 0 (parameters bound). Both outlive the history. With
  /// `recorded`, the line lies ahead from the start; what is taken of it the first time is logged.
  static Expected<std::unique_ptr<History>> create(Interpreter& interpreter,
                                                   const HistoryOptions& options = {},
                                                   RecordedLine recorded = {});
  ~History();

  Interpreter& interpreter() const;
  uint64_t position() const;  // decisions behind us
  uint64_t size() const;      // decisions on the line, those ahead included
  uint32_t branch() const;    // 0, or the number of the branch we are on
  const std::vector<Decision>& line() const;
  /// What the recorded run decided here, as long as nothing else was decided before.
  std::optional<Decision> recorded_next() const;

  Expected<StepResult> step(Rank rank);
  void freeze(Rank rank);
  void thaw(Rank rank);
  Expected<void> edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                      std::span<const std::byte> data);

  /// To position k <= size(). Errors: `history_position`, backend errors.
  Expected<std::vector<Moved>> go_to(uint64_t k);
  /// To before the rank's last decision; everybody else goes there too.
  Expected<std::vector<Moved>> reverse_step(Rank rank);

  /// How often it went back; hits of breakpoints are remembered with it.
  uint64_t travels() const;

  int64_t checkpoint_count() const;
  int64_t checkpoint_bytes() const;  // kept alive by them, shared parts once
  /// The position of the last checkpoint at or before k, where executing again starts.
  uint64_t checkpoint_before(uint64_t k) const;

 private:
  struct Impl;
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hostir::interp
