#include "gui/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "gui/model.h"

namespace hostir::gui {

namespace {

using interp::DiffSide;
using interp::RunWrites;

// Runs up to so many events are run again unasked.
constexpr int64_t kFewEvents = 8000;
constexpr size_t kMostMeasured = 20000;                 // rows of one question
constexpr int64_t kMostHeldBytes = int64_t{256} << 20;  // of A's contents at a time

Expected<DiffSide> read_side(std::shared_ptr<const interp::PastRun> run,
                             interp::DiffProgress& progress, const std::stop_token& stop) {
  DiffSide side;
  side.run = std::move(run);
  side.log = side.run->log();
  if (!side.log) return fail(ErrorKind::kRuntime, "no_log", "the run has no log to compare");
  progress.done = progress.total = 0;
  HOSTIR_ASSIGN_OR_RETURN(RunWrites writes, interp::read_writes_of(*side.log, progress, stop));
  side.writes = std::make_shared<const RunWrites>(std::move(writes));
  return side;
}

// Whose run has ended although its log is still written.
DiffSide marked_finished(DiffSide side, bool finished) {
  if (!finished || side.writes->finished) return side;
  auto writes = std::make_shared<RunWrites>(*side.writes);
  writes->finished = true;
  side.writes = std::move(writes);
  return side;
}

}  // namespace

Comparison::Comparison(const interp::SessionFactory& factory, std::function<void()> wake)
    : factory_(factory),
      wake_(std::move(wake)),
      quick_([this](std::function<void()> answer) { publish(std::move(answer)); }),
      slow_([this](std::function<void()> answer) { publish(std::move(answer)); }) {}

Comparison::~Comparison() {
  quick_.cancel_all();
  slow_.cancel_all();
}

void Comparison::publish(std::function<void()> answer) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(answer));
  }
  wake_();
}

bool Comparison::busy() const {
  auto& self = const_cast<Comparison&>(*this);
  const std::lock_guard lock(self.mutex_);
  return quick_.busy() || slow_.busy() || !inbox_.empty();
}

void Comparison::restart(std::string name) {
  quick_.cancel_all();
  slow_.cancel_all();
  const interp::DiffLimits limits = state_->limits;
  const bool only_different = state_->only_different;
  state_ = std::make_shared<State>();  // answers to the old one find their own
  state_->name = std::move(name);
  state_->limits = limits;
  state_->only_different = only_different;
}

void Comparison::close() { restart(""); }

void Comparison::keep(Model& model) {
  const std::shared_ptr<interp::Session> session = model.worker().session();
  if (!session || !session->log()) return;
  // A recorded log is opened once more: the session may leave it by an edit.
  const bool recorded = session->log()->run().ending != interp::LogEnding::kRunning;
  const bool finished = is_finished(model);
  const std::string name = std::filesystem::path(model.path()).filename().string();
  if (recorded) return open(model.path());
  restart(fmt::format("{} as it was at {}", name, model.snapshot()->last_decision));
  state_->wanted = true;
  state_->reading_a = true;
  slow_.ask(
      "read",
      [this, state = state_, session, finished](std::stop_token stop) -> std::function<void()> {
        auto side =
            std::make_shared<Expected<DiffSide>>(read_side(session, *state->progress, stop));
        if (*side) **side = marked_finished(std::move(**side), finished);
        return [state, side] {
          state->reading_a = false;
          if (*side)
            state->a = std::move(**side);
          else
            state->error = side->error().message();
        };
      });
}

void Comparison::open(const std::string& path) {
  restart(std::filesystem::path(path).filename().string());
  state_->wanted = true;
  state_->reading_a = true;
  slow_.ask("read", [this, state = state_, path](std::stop_token stop) -> std::function<void()> {
    auto side = std::make_shared<Expected<DiffSide>>();
    auto run = factory_.open_beside(path, {stop, {}});
    if (run)
      *side = read_side(std::move(*run), *state->progress, stop);
    else
      *side = tl::unexpected(run.error());
    return [this, state, side, path] {
      state->reading_a = false;
      if (!*side) {
        state->error = side->error().message();
        return;
      }
      state->a = std::move(**side);
      std::error_code error;
      const std::string full = std::filesystem::absolute(path, error).string();
      std::erase(recent_, full);
      recent_.insert(recent_.begin(), full);
      if (recent_.size() > 10) recent_.resize(10);
    };
  });
}

void Comparison::cancel() {
  quick_.cancel_all();
  slow_.cancel_all();
  State& s = *state_;
  if (s.reading_a) s.error = "reading the other run was called off";
  s.measured = true;
  if (s.measuring) s.measure_error = "measuring was called off";
  if (s.asking_contents && s.selected) s.failed_contents = *s.selected;
  s.reading_a = s.comparing = s.making_view = s.measuring = s.asking_contents = s.asking_sources =
      false;
}

void Comparison::again() {
  state_->compared = ~uint64_t{0};
  state_->error.clear();
}

std::string Comparison::doing() const {
  const State& s = *state_;
  const int64_t total = s.progress->total;
  const std::string share =
      total > 0 ? fmt::format(", {} of {} writes", s.progress->done.load(), total) : std::string();
  if (s.reading_a) return "reading A" + share + " ...";
  if (s.comparing) return "reading B" + share + " ...";
  if (s.measuring) return "running both again to measure differences ...";
  if (s.asking_contents) return "running both again for the selected write ...";
  return {};
}

bool Comparison::is_finished(Model& model) {
  const interp::Snapshot& shot = *model.snapshot();
  using interp::StopKind;
  const bool ended = shot.stop.kind == StopKind::kFinished ||
                     shot.stop.kind == StopKind::kDeadlock || shot.stop.kind == StopKind::kFault;
  if (ended && shot.position.decision == shot.last_decision) {
    ended_opened_ = model.last_opened();
    ended_at_ = shot.position;
  }
  return ended_opened_ == model.last_opened() && ended_at_.branch == shot.position.branch &&
         ended_at_.decision == shot.last_decision;
}

bool Comparison::update(Model& model) {
  std::vector<std::function<void()>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(inbox_);
  }
  for (const auto& answer : answers) answer();
  if (!model.snapshot()) return !answers.empty();
  const bool finished = is_finished(model);
  State& s = *state_;
  if (!s.a.run || !s.error.empty()) return !answers.empty();
  const bool stale = s.compared != model.generation() || s.finished != finished;
  if (stale && !s.comparing && !model.running() && !model.opening()) {
    s.finished = finished;
    compare(model);
  }
  if (!s.diff || s.comparing) return !answers.empty();
  const bool shown = s.view && s.view->diff == s.diff && s.view->numbers == s.numbers &&
                     s.view->limits == s.limits && s.view->only_different == s.only_different;
  if (!shown && !s.making_view) make_view();
  if (!shown) return !answers.empty();
  if (!s.measured && !s.measuring && is_short()) measure_all();
  if (!s.selected || s.measuring) return !answers.empty();
  const bool have = s.contents && s.contents->row == *s.selected;
  if (!have && !s.asking_contents && !must_ask()) ask_contents();
  const bool told = s.sources && s.sources->row == *s.selected;
  if (!told && !s.asking_sources) ask_sources(model);
  return !answers.empty();
}

void Comparison::compare(Model& model) {
  State& s = *state_;
  const std::shared_ptr<interp::Session> session = model.worker().session();
  if (!session || !session->log()) return;
  s.compared = model.generation();
  s.comparing = true;
  slow_.ask("compare",
            [state = state_, session, finished = s.finished, a = s.a, seen = s.log_generation,
             log = s.log, before = s.diff](std::stop_token stop) -> std::function<void()> {
              const interp::LogView* now = session->log();
              const uint64_t generation = now->extent().generation;
              const bool same = before && now == log && generation == seen &&
                                before->b.writes->finished ==
                                    (finished || now->run().ending == interp::LogEnding::kClosed);
              if (same) return [state] { state->comparing = false; };
              auto diff = std::make_shared<Expected<interp::RunDiff>>();
              auto side = read_side(session, *state->progress, stop);
              if (side)
                *diff = interp::compare_runs(a, marked_finished(std::move(*side), finished), stop);
              else
                *diff = tl::unexpected(side.error());
              return [state, diff, generation, now] {
                State& to = *state;
                to.comparing = false;
                if (!*diff) {
                  to.error = diff->error().message();
                  return;
                }
                to.log = now;
                to.log_generation = generation;
                to.diff = std::make_shared<const interp::RunDiff>(std::move(**diff));
                to.numbers = std::make_shared<DiffNumbers>();
                to.measured = false;
                to.measure_error.clear();
                to.contents.reset();
                to.sources.reset();
                to.failed_contents = interp::kNoWrite;
              };
            });
}

void Comparison::make_view() {
  state_->making_view = true;
  quick_.ask(
      "view",
      [state = state_, diff = state_->diff, numbers = state_->numbers, limits = state_->limits,
       only = state_->only_different,
       selected = state_->selected_a](std::stop_token) -> std::function<void()> {
        auto view = std::make_shared<const DiffView>(make_diff_view(diff, numbers, limits, only));
        size_t unmeasured = 0;
        for (const interp::WriteOutcome outcome : view->outcomes)
          unmeasured += outcome == interp::WriteOutcome::kDiffers ? 1 : 0;
        std::optional<uint32_t> again;  // the selected row, in the new order
        for (uint32_t i = 0; selected != interp::kNoWrite && i < diff->rows.size() && !again; ++i) {
          if (diff->rows[i].a == selected) again = i;
        }
        return [state, view, unmeasured, again] {
          state->making_view = false;
          if (state->view && state->view->diff != view->diff) {
            state->selected = again;
            if (!again) state->selected_a = interp::kNoWrite;
          }
          state->view = view;
          state->unmeasured = unmeasured;
        };
      });
}

bool Comparison::is_short() const {
  const auto last = [](const DiffSide& side) {
    return side.writes->writes.empty() ? 0 : side.writes->writes.back().event;
  };
  return state_->diff && last(state_->diff->a) < kFewEvents && last(state_->diff->b) < kFewEvents;
}

void Comparison::measure_all() {
  State& s = *state_;
  s.measured = true;
  if (!s.view || s.measuring) return;
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
  if (!s.selected || !s.diff || *s.selected >= s.diff->rows.size()) return true;
  const interp::DiffRow& row = s.diff->rows[*s.selected];
  if (!s.diff->is_comparable(row)) return true;
  if (s.failed_contents == *s.selected) return true;
  const bool logged = s.diff->write_a(row)->has_data && s.diff->write_b(row)->has_data;
  return !logged && !is_short();
}

void Comparison::ask_contents() {
  State& s = *state_;
  if (!s.selected || !s.diff || !s.diff->is_comparable(s.diff->rows[*s.selected])) return;
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
                      error.empty() ? "the contents of this write could not be had" : error;
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

void Comparison::ask_sources(Model& model) {
  State& s = *state_;
  s.asking_sources = true;
  quick_.ask("sources",
             [state = state_, view = s.view, row = *s.selected,
              program = model.snapshot()->program](std::stop_token stop) -> std::function<void()> {
               auto found = find_diff_sources(*view, *program, row, stop);
               auto sources = std::make_shared<DiffSources>();
               if (found) *sources = std::move(*found);
               sources->row = row;
               return [state, sources] {
                 state->asking_sources = false;
                 state->sources = sources;
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
  if (r.b == interp::kNoWrite) return;  // events and instructions of A are not B's
  model.selection.event = w.event;
  model.selection.code = w.instruction;
  const interp::WriteDifference* difference = shown->of(row);
  if (difference && difference->first >= 0) {
    const Box& box = diff.tensor(r).boxes[static_cast<size_t>(w.rank)];
    model.selection.element = box.index_at(difference->first);
  }
}

void Comparison::next_divergence(Model& model) {
  const DiffView* shown = view();
  if (!shown) return;
  const std::optional<uint32_t> first = shown->first ? shown->first : shown->first_other_bits;
  if (!first) return;
  const bool again =
      state_->selected && shown->first && interp::is_divergent(shown->outcomes[*state_->selected]);
  go_to(model, again ? shown->next_divergent(*state_->selected).value_or(*first) : *first);
}

}  // namespace hostir::gui
