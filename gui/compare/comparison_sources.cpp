// Finds which source of a divergent write differed first.
#include <fmt/core.h>

#include <map>

#include "gui/compare/comparison.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

using interp::WriteOutcome;

bool is_same(WriteOutcome outcome) { return outcome == WriteOutcome::kEqual; }

}  // namespace

Expected<DiffSources> find_diff_sources(const DiffView& view, uint32_t row,
                                        const std::stop_token& stop) {
  DiffSources out;
  out.row = row;
  const interp::RunDiff& diff = *view.diff;
  const interp::DiffRow& r = diff.rows[row];
  if (is_same(view.outcomes[row]) || r.b == interp::kNoWrite || !diff.b.program) return out;
  const interp::RunWrite& w = *diff.write_b(r);
  const interp::LogWrite place{w.event, w.row, w.rank};
  HOSTIR_ASSIGN_OR_RETURN(const auto values,
                          diff.b.log->read_writes(std::span(&place, 1), std::nullopt, stop));
  if (values.empty()) return out;
  std::vector<int64_t> element;
  if (const auto* difference = view.of(row); difference && difference->first >= 0)
    element = diff.tensor(r).boxes[static_cast<size_t>(w.rank)].index_at(difference->first);
  HOSTIR_ASSIGN_OR_RETURN(
      const std::vector<SourceRow> sources,
      make_sources(*diff.b.log, *diff.b.program, values.front(), element, stop));
  // Find the rows of the direct sources; a source without a write is a parameter.
  std::map<std::pair<int64_t, std::string>, uint32_t> wanted;
  std::string changed;
  size_t direct = 0;
  for (const SourceRow& source : sources) {
    if (source.depth != 1) continue;
    ++direct;
    if (source.written) {
      wanted[{source.write.event, source.value}] = interp::kNoWrite;
    } else if (changed.empty() && contains(diff.changed_values, source.value)) {
      changed = source.value;
    }
  }
  for (uint32_t i = 0; i < diff.rows.size() && !wanted.empty(); ++i) {
    const interp::RunWrite* write = diff.write_b(diff.rows[i]);
    if (!write) continue;
    const auto found = wanted.find({write->event, diff.tensor(diff.rows[i]).name});
    if (found != wanted.end()) found->second = i;
  }
  for (const auto& [source, at] : wanted) {
    if (at == interp::kNoWrite || at == row || is_same(view.outcomes[at])) continue;
    if (!out.cause || at < *out.cause) out.cause = at;
  }
  if (out.cause)
    out.sentence = fmt::format("Its source {} differed before.", diff.place(diff.rows[*out.cause]));
  else if (!changed.empty())
    out.sentence = fmt::format("It reads %{}, which differs between the runs.", changed);
  else if (direct > 0)
    out.sentence = "Everything it reads is equal in both runs: the difference arises here.";
  return out;
}

}  // namespace hostir::gui
