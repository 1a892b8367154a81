// Rows of a comparison: their numbers, contents and sources, and the selected row.
#include <utility>

#include "gui/compare/comparison.h"
#include "gui/state/model.h"

namespace hostir::gui {

namespace {

using interp::DiffSide;

// Runs with up to this many events are re-run automatically.
constexpr int64_t kFewEvents = 8000;
constexpr size_t kMostMeasured = 20000;                 // rows per request
constexpr int64_t kMostHeldBytes = int64_t{256} << 20;  // limit for A's contents held at one time

}  // namespace

bool Comparison::is_short() const {
  const auto last = [](const DiffSide& side) {
    return side.writes->writes.empty() ? 0 : side.writes->writes.back().event;
  };
  return state_->diff && last(state_->diff->a) < kFewEvents && last(state_->diff->b) < kFewEvents;
}

void Comparison::measure_all() {
  State& s = *state_;
  if (!is_current() || s.measuring) return;
  s.measured = true;
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < s.view->outcomes.size() && rows.size() < kMostMeasured; ++i) {
    if (s.view->outcomes[i] == interp::WriteOutcome::kDiffers) rows.push_back(i);
  }
  if (rows.empty()) return;
  s.measuring = true;
  s.measure_error.clear();
  slow_.ask(
      "measure",
      [state = state_, diff = s.diff, known = s.numbers,
       rows = std::move(rows)](std::stop_token stop) -> std::function<void()> {
        auto numbers = std::make_shared<DiffNumbers>(*known);
        const auto done = interp::measure_rows(
            *diff, rows, kMostHeldBytes,
            [&](uint32_t row, const interp::WriteDifference& d, const Tensor&, const Tensor&) {
              (*numbers)[row] = d;
              return true;
            },
            stop);
        const std::string error = done ? std::string() : done.error().message();
        return [state, diff, numbers, error] {
          state->measuring = false;
          if (state->diff != diff) return;
          state->numbers = numbers;
          state->measure_error = error;
        };
      });
}

const DiffContents* Comparison::contents() const {
  const State& s = *state_;
  return s.contents && s.selected && s.contents->row == *s.selected ? s.contents.get() : nullptr;
}

bool Comparison::must_ask() const {
  const State& s = *state_;
  if (!s.diff || !is_current()) return false;  // wait for the new view
  if (!s.selected || *s.selected >= s.diff->rows.size()) return true;
  const interp::DiffRow& row = s.diff->rows[*s.selected];
  if (!s.diff->is_comparable(row)) return true;
  if (s.failed_contents == *s.selected) return true;
  const bool logged = s.diff->write_a(row)->has_data && s.diff->write_b(row)->has_data;
  return !logged && !is_short();
}

void Comparison::ask_contents() {
  State& s = *state_;
  if (!s.diff || !is_current() || !s.selected || *s.selected >= s.diff->rows.size()) return;
  if (!s.diff->is_comparable(s.diff->rows[*s.selected])) return;
  s.asking_contents = true;
  slow_.ask("contents",
            [state = state_, diff = s.diff,
             row = *s.selected](std::stop_token stop) -> std::function<void()> {
              auto contents = std::make_shared<DiffContents>();
              const auto done = interp::measure_rows(
                  *diff, {row}, kMostHeldBytes,
                  [&](uint32_t found, const interp::WriteDifference& d, Tensor a, Tensor b) {
                    *contents = {found, std::move(a), std::move(b), {}, d};
                    return false;
                  },
                  stop);
              const std::string error = done ? std::string() : done.error().message();
              if (contents->row == row) {
                const interp::DiffRow& r = diff->rows[row];
                contents->box = diff->tensor(r).boxes[static_cast<size_t>(diff->write(r).rank)];
              }
              return [state, diff, contents, row, error] {
                State& to = *state;
                to.asking_contents = false;
                if (to.diff != diff) return;
                if (contents->row != row) {
                  to.failed_contents = row;
                  to.measure_error =
                      error.empty() ? "the contents of this write are not available" : error;
                  return;
                }
                to.contents = contents;
                if (to.numbers->contains(row) ||
                    diff->rows[row].outcome != interp::WriteOutcome::kDiffers)
                  return;
                auto numbers = std::make_shared<DiffNumbers>(*to.numbers);
                (*numbers)[row] = contents->difference;
                to.numbers = numbers;
              };
            });
}

const DiffSources* Comparison::sources() const {
  const State& s = *state_;
  return s.sources && s.selected && s.sources->row == *s.selected ? s.sources.get() : nullptr;
}

void Comparison::ask_sources() {
  State& s = *state_;
  s.asking_sources = true;
  quick_.ask("sources",
             [state = state_, view = s.view,
              row = *s.selected](std::stop_token stop) -> std::function<void()> {
               auto found = find_diff_sources(*view, row, stop);
               auto sources = std::make_shared<DiffSources>();
               if (found) *sources = std::move(*found);
               sources->row = row;
               return [state, sources, diff = view->diff] {
                 state->asking_sources = false;
                 if (state->diff == diff) state->sources = sources;
               };
             });
}

void Comparison::go_to(Model& model, uint32_t row) {
  const DiffView* shown = view();
  if (!shown || row >= shown->outcomes.size()) return;
  const interp::RunDiff& diff = *shown->diff;
  const interp::DiffRow& r = diff.rows[row];
  state_->selected = row;
  state_->selected_a = r.a;
  const interp::RunWrite& w = diff.write(r);
  model.selection.rank = w.rank;
  model.selection.value = diff.tensor(r).name;
  model.selection.element.clear();
  model.selection.event = -1;
  if (r.b == interp::kNoWrite) return;  // A's events and instructions do not exist in B
  model.selection.event = w.event;
  model.selection.code = w.instruction;
  const interp::WriteDifference* difference = shown->of(row);
  if (difference && difference->first >= 0) {
    const Box& box = diff.tensor(r).boxes[static_cast<size_t>(w.rank)];
    model.selection.element = box.index_at(difference->first);
  }
}

void Comparison::next_divergence(Model& model) {
  // The comparison is not updated while hidden, so its rows may belong to an older run.
  state_->go_next = !is_current() || state_->comparing || state_->compared != model.generation();
  if (state_->go_next) return;
  const DiffView* shown = view();
  if (!shown) return;
  const std::optional<uint32_t> first = shown->first ? shown->first : shown->first_other_bits;
  if (!first) return;
  const bool again =
      state_->selected && shown->first && interp::is_divergent(shown->outcomes[*state_->selected]);
  go_to(model, again ? shown->next_divergent(*state_->selected).value_or(*first) : *first);
}

}  // namespace hostir::gui
