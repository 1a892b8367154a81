#include "gui/state/what_if_search.h"

#include <utility>

#include "gui/state/model.h"

namespace hostir::gui {

namespace {

constexpr const char* kWhatIfQuery = "what_if";

}  // namespace

bool WhatIfSearch::possible(const Model& model) {
  return model.snapshot() && interp::can_ask_what_if(*model.snapshot());
}

void WhatIfSearch::start(Model& model) {
  if (!possible(model)) return;
  state_ = std::make_shared<State>();
  state_->shot = model.snapshot();
  state_->opened = model.last_opened();
  state_->path = model.path();
  state_->base = model.opened_text().value_or(std::string_view());
  ++number_;
  model.worker().query_in_background(
      kWhatIfQuery,
      [state = state_](const interp::Session& session,
                       std::stop_token stop) -> std::function<void()> {
        interp::WhatIfOptions options;
        options.stop = std::move(stop);
        options.progress = [&](const interp::WhatIfProgress& progress) {
          state->tried = progress.tried;
          state->proposed = progress.proposed;
          state->completes = progress.completes;
        };
        auto found =
            std::make_shared<Expected<interp::WhatIf>>(session.what_if(*state->shot, options));
        return [state, found] {
          state->running = false;
          if (*found)
            state->result = std::make_unique<interp::WhatIf>(std::move(**found));
          else
            state->error = found->error().message();
        };
      });
}

void WhatIfSearch::cancel(Model& model) {
  if (!running()) return;
  model.worker().cancel_slow(kWhatIfQuery);
  // A cancelled query never delivers an answer.
  state_ = std::make_shared<State>();
  state_->running = false;
  state_->error = "The search was cancelled.";
}

TextForDocument WhatIfSearch::text_of(const interp::WhatIfTrial& trial) const {
  if (!state_) return {};
  return {state_->path, state_->base, trial.edit.text, trial.edit.line};
}

interp::WhatIfProgress WhatIfSearch::progress() const {
  if (!state_) return {};
  return {state_->tried, state_->proposed, state_->completes};
}

const std::string& WhatIfSearch::error() const {
  static const std::string kNone;
  return state_ ? state_->error : kNone;
}

const std::string& WhatIfSearch::path() const {
  static const std::string kNone;
  return state_ ? state_->path : kNone;
}

bool WhatIfSearch::about_this(const Model& model) const {
  return state_ && state_->opened == model.last_opened() && model.snapshot() && state_->shot &&
         state_->shot->position == model.snapshot()->position;
}

}  // namespace hostir::gui
