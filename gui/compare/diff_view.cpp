#include "gui/compare/diff_view.h"

#include <algorithm>

namespace hostir::gui {

using interp::WriteOutcome;

namespace {

void make_strip(DiffView& view) {
  const interp::RunDiff& diff = *view.diff;
  interp::Rank ranks = 0;
  for (const interp::DiffRow& row : diff.rows) ranks = std::max(ranks, diff.write(row).rank + 1);
  if (ranks <= 0) return;
  view.ranks_per_line = (ranks + kStripLines - 1) / kStripLines;
  const auto lines = static_cast<size_t>((ranks + view.ranks_per_line - 1) / view.ranks_per_line);
  const size_t rows = diff.rows.size();
  view.columns = static_cast<int>(std::min<size_t>(rows, kStripColumns));
  view.strip.assign(lines, std::vector<StripCell>(static_cast<size_t>(view.columns)));
  for (size_t i = 0; i < rows; ++i) {
    const size_t line = static_cast<size_t>(diff.write(diff.rows[i]).rank / view.ranks_per_line);
    StripCell& cell = view.strip[line][i * static_cast<size_t>(view.columns) / rows];
    ++cell.count;
    if (cell.row != interp::kNoWrite && cell.worst >= view.outcomes[i]) continue;
    cell.worst = view.outcomes[i];
    cell.row = static_cast<uint32_t>(i);
  }
}

}  // namespace

int64_t DiffView::different() const {
  return static_cast<int64_t>(outcomes.size()) - count(WriteOutcome::kEqual) -
         count(WriteOutcome::kNotReached);
}

const interp::WriteDifference* DiffView::of(uint32_t row) const {
  const auto found = numbers->find(row);
  return found == numbers->end() ? nullptr : &found->second;
}

std::optional<uint32_t> DiffView::row_of(uint32_t write_a) const {
  if (write_a >= row_of_a.size()) return std::nullopt;
  return row_of_a[write_a];
}

std::optional<uint32_t> DiffView::next_divergent(uint32_t row) const {
  const auto size = static_cast<uint32_t>(outcomes.size());
  for (uint32_t step = 1; step <= size; ++step) {
    const uint32_t at = static_cast<uint32_t>((uint64_t{row} + step) % size);
    if (interp::is_divergent(outcomes[at])) return at;
  }
  return std::nullopt;
}

DiffView make_diff_view(std::shared_ptr<const interp::RunDiff> diff,
                        std::shared_ptr<const DiffNumbers> numbers, interp::DiffLimits limits,
                        bool only_different) {
  DiffView view;
  view.diff = std::move(diff);
  view.numbers = std::move(numbers);
  view.limits = limits;
  view.only_different = only_different;
  view.row_of_a.resize(view.diff->a.writes->writes.size());
  view.outcomes.reserve(view.diff->rows.size());
  for (uint32_t i = 0; i < view.diff->rows.size(); ++i) {
    WriteOutcome outcome = view.diff->rows[i].outcome;
    if (outcome == WriteOutcome::kDiffers) {
      if (const auto* difference = view.of(i)) outcome = interp::judge(*difference, limits);
    }
    view.outcomes.push_back(outcome);
    if (view.diff->rows[i].a != interp::kNoWrite) view.row_of_a[view.diff->rows[i].a] = i;
    ++view.counts[static_cast<size_t>(outcome)];
    const bool same = outcome == WriteOutcome::kEqual;
    if (!same || !only_different) view.shown.push_back(i);
    if (!view.first && interp::is_divergent(outcome)) view.first = i;
    const bool compared = outcome != WriteOutcome::kNotReached;
    if (!view.first_other_bits && !same && compared) view.first_other_bits = i;
  }
  make_strip(view);
  return view;
}

}  // namespace hostir::gui
