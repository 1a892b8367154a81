#include "gui/panels/history/past_values.h"

#include <chrono>

namespace hostir::gui {

namespace {

constexpr const char* kQueryName = "history/past";
// Re-run automatically up to this many decisions, or if the last re-run took at most this long.
constexpr uint64_t kFewDecisions = 4000;
constexpr double kShortSeconds = 0.4;

}  // namespace

void PastValues::select(Model& model, const std::string& value,
                        const std::vector<int64_t>& element) {
  const bool same =
      state_->value == value && state_->element == element && state_->opened == model.last_opened();
  if (same) return;
  if (state_->running) model.worker().cancel_slow(kQueryName);
  state_ = std::make_shared<State>();
  state_->value = value;
  state_->element = element;
  state_->opened = model.last_opened();
}

std::string PastValues::at(int64_t event, interp::Rank rank) const {
  const auto found = state_->values.find({event, rank});
  return found == state_->values.end() ? std::string() : found->second;
}

void PastValues::ask(Model& model) {
  state_->running = true;
  state_->generation = model.generation();
  state_->error.clear();
  interp::PastQuery query{state_->value, state_->element};
  model.worker().query_in_background(
      kQueryName,
      [state = state_, query = std::move(query)](const interp::Session& session,
                                                 std::stop_token stop) -> std::function<void()> {
        const auto began = std::chrono::steady_clock::now();
        auto found = std::make_shared<Expected<std::vector<interp::PastValue>>>(
            session.past_values(query, std::move(stop)));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        return [state, found, took] {
          state->running = false;
          state->took_s = took.count();
          if (!*found) {
            state->error = found->error().message();
            return;
          }
          for (interp::PastValue& v : **found) state->values[{v.event, v.rank}] = std::move(v.text);
        };
      });
}

bool PastValues::wants_unasked(const Model& model) const {
  if (state_->cancelled || state_->generation == model.generation()) return false;
  if (state_->generation != 0) return state_->took_s < kShortSeconds;
  return model.snapshot()->last_decision <= kFewDecisions;
}

void PastValues::draw(Frame& frame, bool missing) {
  if (state_->element.empty()) return;
  if (state_->running) {
    ImGui::SameLine();
    frame.ui.text_dim("running the program again ...");
    frame.ui.tag("history/past/running");
    ImGui::SameLine();
    if (ImGui::SmallButton("cancel")) {
      frame.model.worker().cancel_slow(kQueryName);
      state_ = std::make_shared<State>(
          State{state_->value, state_->element, state_->opened, false, true});
    }
    frame.ui.tag("history/past/cancel");
    return;
  }
  if (!state_->error.empty()) {
    const std::string text = "past values are not known: " + state_->error;
    ImGui::SameLine();
    frame.ui.text_dim(text);
    frame.ui.tag("history/past/error", text);
    return;
  }
  if (!missing) return;
  const std::string& no_stepping = frame.model.snapshot()->no_stepping;
  if (!no_stepping.empty()) {
    const std::string text =
        "the log has no contents of it and cannot be replayed, so its past values are not known";
    ImGui::SameLine();
    frame.ui.text_dim(text);
    frame.ui.tag("history/past/error", text);
    return;
  }
  if (wants_unasked(frame.model)) return ask(frame.model);
  ImGui::SameLine();
  if (ImGui::SmallButton("values of past writes")) ask(frame.model);
  frame.ui.tag("history/past");
  if (ImGui::IsItemHovered())
    Ui::tooltip(
        "The log holds no contents of this tensor, only a digest and, in a window, its range.\n"
        "This runs the program again in the background, as it was logged, and reads the\n"
        "element after each write. (hostir run --trace-values data=NAME keeps contents.)");
}

}  // namespace hostir::gui
