// History: one sequence of decisions (the line), and a position on it.
//
// State k is a function of program, inputs and decisions 0..k-1. The line may extend past the
// position: after going back, repeating the same decisions follows the line; a different decision
// truncates it and opens a branch. A recorded run starts with its whole line ahead. Going back
// restores the nearest checkpoint and silently re-executes from there. Checkpoints are spaced by
// measured time, so that taking them costs at most a fraction of the run, and thinned out with
// distance to stay within a memory budget. Re-execution takes new ones, so that going further back
// stays fast. Going back is an error if the backend has no checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/core/history/rank_move.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

struct Decision {
  DecisionRecord::Kind kind = DecisionRecord::Kind::kRun;
  Rank rank = kNoRank;
  uint32_t edit = 0;  // kEdit: index of the stored bytes
};

/// The decisions of a recorded run, to be replayed. An edit names its buffer, because allocation
/// ids exist only once the decision is taken.
struct RecordedEdit {
  std::string buffer;  // as in the source: "%y"
  int64_t offset_bytes = 0;
  std::vector<std::byte> data;
};
struct RecordedLine {
  std::vector<Decision> decisions;
  std::vector<RecordedEdit> edits;  // indexed by Decision::edit
};

struct HistoryOptions {
  int64_t memory_budget_bytes = int64_t{512} << 20;
  int64_t spacing_ns = 5'000'000;  // wall time of execution between checkpoints
};

/// The most recently allocated live buffer of that name; nullopt if there is none.
std::optional<AllocationId> newest_allocation(const Interpreter& interpreter, Rank rank,
                                              std::string_view buffer);

class History {
 public:
  /// Starts at the interpreter's position 0 (parameters bound). Interpreter and backend outlive the
  /// history. With `recorded`, the recorded line is ahead from the start; its decisions are logged
  /// the first time they are taken.
  static Expected<std::unique_ptr<History>> create(Interpreter& interpreter,
                                                   const HistoryOptions& options = {},
                                                   RecordedLine recorded = {});
  ~History();

  Interpreter& interpreter() const;
  uint64_t position() const;  // decisions taken
  uint64_t size() const;      // decisions on the line, including those ahead
  uint32_t branch() const;    // number of the current branch, from 0
  const std::vector<Decision>& line() const;
  /// The decisions that led to this position, for repeating them on another backend.
  RecordedLine taken() const;
  /// The recorded run's decision at this position; nullopt once a different decision has been
  /// taken.
  std::optional<Decision> recorded_next() const;

  Expected<StepResult> step(Rank rank);
  void freeze(Rank rank);
  void thaw(Rank rank);
  Expected<void> edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                      std::span<const std::byte> data);

  /// Moves to position k <= size(). Errors: `history_position`, backend errors.
  Expected<std::vector<RankMove>> go_to(uint64_t k);

  /// The number of times it has gone back; breakpoint hits store it.
  uint64_t travels() const;

  /// The position of the last checkpoint at or before k, where re-execution starts.
  uint64_t checkpoint_before(uint64_t k) const;

 private:
  struct Impl;
  explicit History(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hostir::interp
