// The display data of two compared runs: outcomes with known numbers, counts, rows, strip.
//
// Built on a worker thread when numbers or limits change, then only read. A frame's cost depends on
// what is in view, not on the number of writes.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "interp/session/diff/run_diff.h"

namespace hostir::gui {

using DiffNumbers = std::map<uint32_t, interp::WriteDifference>;  // by row

/// A range of rows on some ranks, coloured by the worst outcome in it.
struct StripCell {
  interp::WriteOutcome worst = interp::WriteOutcome::kEqual;
  uint32_t row = interp::kNoWrite;  // the first with that outcome; kNoWrite: no writes here
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
  std::optional<uint32_t> first_other_bits;    // the first row that is not bit-equal
  int columns = 0;
  int ranks_per_line = 1;
  std::vector<std::vector<StripCell>> strip;  // groups of ranks, from rank 0

  int64_t count(interp::WriteOutcome outcome) const { return counts[static_cast<size_t>(outcome)]; }
  /// Number of writes that are not equal in both runs.
  int64_t different() const;
  /// Null if not measured.
  const interp::WriteDifference* of(uint32_t row) const;
  /// The row of a write of A; nullopt for kNoWrite.
  std::optional<uint32_t> row_of(uint32_t write_a) const;
  /// The next divergent row after `row`; wraps around at the end.
  std::optional<uint32_t> next_divergent(uint32_t row) const;
};

inline constexpr int kStripColumns = 96;
inline constexpr int kStripLines = 16;

DiffView make_diff_view(std::shared_ptr<const interp::RunDiff> diff,
                        std::shared_ptr<const DiffNumbers> numbers, interp::DiffLimits limits,
                        bool only_different);

}  // namespace hostir::gui
