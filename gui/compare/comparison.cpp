#include "gui/compare/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "gui/state/model.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

using interp::DiffSide;
using interp::RunWrites;

Expected<DiffSide> read_side(std::shared_ptr<const interp::ReplaySource> run,
                             const std::optional<interp::RunLimit>& limit,
                             interp::DiffProgress& progress, const std::stop_token& stop) {
  DiffSide side;
  side.run = std::move(run);
  side.log = side.run->log();
  if (!side.log) return fail(ErrorKind::kRuntime, "no_log", "the run has no log to compare");
  progress.done = progress.total = 0;
  HOSTIR_ASSIGN_OR_RETURN(RunWrites writes,
                          interp::read_writes_of(*side.log, limit, progress, stop));
  side.writes = std::make_shared<const RunWrites>(std::move(writes));
  return side;
}

// Marks a run as finished even though its log is still being written.
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

// Leaves the pictures' work running, because nothing would request it again.
void Comparison::call_off() {
  quick_.cancel("view");
  quick_.cancel("sources");
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
  const std::lock_guard lock(mutex_);
  return quick_.busy() || slow_.busy() || !inbox_.empty();
}

void Comparison::restart(std::string name) {
  call_off();
  const interp::DiffLimits limits = state_->limits;
  const bool only_different = state_->only_different;
  state_ = std::make_shared<State>();  // pending answers keep the old state alive
  state_->name = std::move(name);
  state_->limits = limits;
  state_->only_different = only_different;
}

void Comparison::close() { restart(""); }

std::string Comparison::why_not_keep(Model& model) {
  if (!model.snapshot()) return "Nothing is open.";
  return model.worker().has_log() ? "" : "This run has no log, so it cannot be kept.";
}

void Comparison::keep(Model& model) {
  const std::shared_ptr<interp::Session> session = model.worker().session();
  if (!session || !session->log()) return;
  // Open a second view of a recorded log, since an edit may make the session leave it.
  const bool recorded = session->log()->run().ending != interp::LogEnding::kRunning;
  const bool finished = is_finished(model);
  if (recorded) return open(model.path());
  const interp::Snapshot& shot = *model.snapshot();
  const std::string file = io::file_name(model.path());
  keep_session(session, {shot.position.branch, shot.last_decision}, finished,
               fmt::format("{} as it was at {}", file, shot.last_decision));
}

void Comparison::keep_session(std::shared_ptr<interp::Session> session, interp::RunLimit limit,
                              bool finished, const std::string& name) {
  restart(name);
  state_->wanted = true;
  state_->reading_a = true;
  state_->read_a = [this, session, limit, finished, name] {
    keep_session(session, limit, finished, name);
  };
  slow_.ask(
      "read",
      [state = state_, session, limit, finished](std::stop_token stop) -> std::function<void()> {
        auto side =
            std::make_shared<Expected<DiffSide>>(read_side(session, limit, *state->progress, stop));
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
  restart(io::file_name(path));
  state_->wanted = true;
  state_->reading_a = true;
  state_->read_a = [this, path] { open(path); };
  slow_.ask("read", [this, state = state_, path](std::stop_token stop) -> std::function<void()> {
    auto side = std::make_shared<Expected<DiffSide>>();
    auto run = factory_.open_for_comparison(path, {stop, {}});
    if (run)
      *side = read_side(std::move(*run), std::nullopt, *state->progress, stop);
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
  call_off();
  State& s = *state_;
  if (s.reading_a) s.error = "reading the other run was cancelled";
  s.measured = true;
  if (s.measuring) s.measure_error = "measuring was cancelled";
  if (s.asking_contents && s.selected) s.failed_contents = *s.selected;
  s.reading_a = s.comparing = s.making_view = s.measuring = s.asking_contents = s.asking_sources =
      false;
}

void Comparison::again() {
  const std::function<void()> read_a = state_->read_a;  // copied: calling it replaces the state
  if (!state_->a.run && read_a) return read_a();
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
  const bool shown_before = std::exchange(shown_, false);
  if (!model.snapshot()) return !answers.empty();
  const bool finished = is_finished(model);
  if (!shown_before) return !answers.empty();
  State& s = *state_;
  if (!s.a.run || !s.error.empty()) return !answers.empty();
  const bool stale = s.compared != model.generation() || s.finished != finished;
  if (stale && !s.comparing && !model.running() && !model.opening()) {
    s.finished = finished;
    compare(model);
  }
  if (!s.diff || s.comparing) return !answers.empty();
  const bool shown = is_current() && s.view->numbers == s.numbers && s.view->limits == s.limits &&
                     s.view->only_different == s.only_different;
  if (!shown && !s.making_view) make_view();
  if (!shown) return !answers.empty();
  if (s.go_next && !stale) next_divergence(model);
  if (!s.measured && !s.measuring && is_short()) measure_all();
  if (!s.selected || s.measuring) return !answers.empty();
  const bool have = s.contents && s.contents->row == *s.selected;
  if (!have && !s.asking_contents && !must_ask()) ask_contents();
  const bool told = s.sources && s.sources->row == *s.selected;
  if (!told && !s.asking_sources) ask_sources();
  return !answers.empty();
}

void Comparison::compare(Model& model) {
  State& s = *state_;
  const std::shared_ptr<interp::Session> session = model.worker().session();
  if (!session || !session->log()) return;
  s.compared = model.generation();
  s.comparing = true;
  slow_.ask("compare",
            [state = state_, session, program = model.snapshot()->program, finished = s.finished,
             a = s.a, seen = s.log_generation, log = s.log,
             before = s.diff](std::stop_token stop) -> std::function<void()> {
              const interp::LogView* now = session->log();
              const uint64_t generation = now->extent().generation;
              const bool same = before && now == log && generation == seen &&
                                before->b.writes->finished ==
                                    (finished || now->run().ending == interp::LogEnding::kClosed);
              if (same) return [state] { state->comparing = false; };
              auto diff = std::make_shared<Expected<interp::RunDiff>>();
              auto side = read_side(session, std::nullopt, *state->progress, stop);
              if (side) side->program = program;
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
       only = state_->only_different](std::stop_token) -> std::function<void()> {
        auto view = std::make_shared<const DiffView>(make_diff_view(diff, numbers, limits, only));
        size_t unmeasured = 0;
        for (const interp::WriteOutcome outcome : view->outcomes)
          unmeasured += outcome == interp::WriteOutcome::kDiffers ? 1 : 0;
        return [state, view, unmeasured] {
          state->making_view = false;
          if (state->view && state->view->diff != view->diff) {
            // Use the current selection: it may have changed since the request.
            state->selected = view->row_of(state->selected_a);
            if (!state->selected) state->selected_a = interp::kNoWrite;
          }
          state->view = view;
          state->unmeasured = unmeasured;
        };
      });
}

}  // namespace hostir::gui
