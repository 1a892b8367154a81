// What is shown of two compared runs: outcomes with the numbers that are known, counts, rows,
// strip.
//
// Made on a worker whenever numbers or limits change, then only read: a frame costs what is in
// view, however many writes there are.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "interp/session/run_diff.h"

namespace hostir::gui {

using DiffNumbers = std::map<uint32_t, interp::WriteDifference>;  // by row

/// A stretch of rows of some ranks, by the worst of them.
struct StripCell {
  interp::WriteOutcome worst = interp::WriteOutcome::kEqual;
  uint32_t row = interp::kNoWrite;  // the first that is so bad; kNoWrite: nothing was written here
  uint32_t count = 0;
};

struct DiffView {
  std::shared_ptr<const interp::RunDiff> diff;
  std::shared_ptr<const DiffNumbers> numbers;
  interp::DiffLimits limits;
  bool only_different = true;
  std::vector<interp::WriteOutcome> outcomes;  // by row
  std::vector<uint32_t> shown;                 // rows of the table
  std::vector<uint32_t> row_of_a;              // by write of A
  std::array<int64_t, 9> counts{};             // by outcome
  std::optional<uint32_t> first;               // the first divergent row
  std::optional<uint32_t> first_other_bits;    // the first that is not equal
  int columns = 0;
  int ranks_per_line = 1;
  std::vector<std::vector<StripCell>> strip;  // lines of ranks, from rank 0 on

  int64_t count(interp::WriteOutcome outcome) const { return counts[static_cast<size_t>(outcome)]; }
  /// Writes that are not equal in both.
  int64_t different() const;
  /// Null: not measured.
  const interp::WriteDifference* of(uint32_t row) const;
  /// The row of a write of A; nothing for kNoWrite.
  std::optional<uint32_t> row_of(uint32_t write_a) const;
  /// The divergent row after `row`, from the start again after the last one.
  std::optional<uint32_t> next_divergent(uint32_t row) const;
};

inline constexpr int kStripColumns = 96;
inline constexpr int kStripLines = 16;

DiffView make_diff_view(std::shared_ptr<const interp::RunDiff> diff,
                        std::shared_ptr<const DiffNumbers> numbers, interp::DiffLimits limits,
                        bool only_different);

}  // namespace hostir::gui
