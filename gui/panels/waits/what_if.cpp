// Small edits of a hanging program that were tried: what they change, and how the program then
// ends.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "gui/panels/program/code_diff.h"
#include "gui/panels/waits/what_if_button.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::WhatIf;
using interp::WhatIfTrial;
using Verdict = WhatIfTrial::Verdict;

constexpr size_t kOpenAtFirst = 1;
constexpr size_t kMostOthers = 40;  // shown edits that did not help, smallest first

StateKind trial_state(const WhatIfTrial& trial) {
  switch (trial.verdict) {
    case Verdict::kCompletes:
      return trial.good() ? StateKind::kOk : StateKind::kWaiting;
    case Verdict::kHangs:
    case Verdict::kTooLong:
      return StateKind::kWaiting;
    case Verdict::kMismatch:
      return StateKind::kMismatch;
    case Verdict::kFault:
    case Verdict::kRefused:
      return StateKind::kFailed;
  }
  return StateKind::kFailed;
}

std::string verdict_words(const WhatIfTrial& trial) {
  std::string out(name(trial.verdict));
  if (trial.verdict != Verdict::kCompletes) return out;
  if (trial.claims.failed > 0)
    return fmt::format("{}, but {} of {} tests fail", out, trial.claims.failed, trial.claims.tests);
  if (!trial.warnings.empty()) return out + ", with a warning";
  if (trial.claims.tests > 0)
    return fmt::format("{}, {} of the file pass{}", out, counted(trial.claims.tests, "test"),
                       trial.claims.tests == 1 ? "es" : "");
  return out;
}

class WhatIfPanel : public Panel {
 public:
  std::string_view id() const override { return "whatif"; }
  std::string_view title() const override { return "What if"; }
  std::string_view hint() const override {
    return "Small edits that let a hanging program complete. Run to a deadlock or a mismatch "
           "and press What if: edits are proposed from where the ranks are stuck, and each is "
           "tried in its own run; the open session does not change.";
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const WhatIfSearch& search = frame.model.what_if();
    if (search.result() && search.result()->completes > 0) {
      HeightRequest wanted;
      wanted.least = frame.ui.px(190);
      return wanted;
    }
    const bool something = search.running() || search.result() || !search.error().empty() ||
                           WhatIfSearch::possible(frame.model);
    return something ? HeightRequest::some(frame.ui.px(84)) : HeightRequest::idle();
  }

  void draw(Frame& frame) override {
    const WhatIfSearch& search = frame.model.what_if();
    if (seen_ != search.number()) {
      seen_ = search.number();
      closed_.clear();
      opened_.clear();
      show_others_ = false;
    }
    if (search.running()) return draw_progress(frame);
    const bool button = WhatIfSearch::possible(frame.model);
    if (button && search.result() && search.about_this(frame.model)) {
      if (ImGui::Button("Search again")) frame.actions.request("whatif");
      frame.ui.tag("whatif/start", "Search again");
    } else {
      what_if_button(frame, "whatif/start");
    }
    if (!search.error().empty()) {
      frame.ui.text_dim(search.error());
      frame.ui.tag("whatif/error", search.error());
    }
    if (!search.result()) {
      if (search.error().empty()) frame.ui.empty_hint(hint());
      return;
    }
    if (button) ImGui::SameLine();
    draw_result(frame, *search.result());
  }

 private:
  static void draw_progress(Frame& frame) {
    const interp::WhatIfProgress p = frame.model.what_if().progress();
    const std::string text = p.proposed == 0
                                 ? std::string("Running the program as it is")
                                 : fmt::format("{} of {} edits tried, {} let it complete", p.tried,
                                               p.proposed, p.completes);
    const float share =
        p.proposed == 0 ? 0 : static_cast<float>(p.tried) / static_cast<float>(p.proposed);
    ImGui::ProgressBar(
        share, ImVec2(std::max(1.0f, ImGui::GetContentRegionAvail().x - frame.ui.px(80)), 0),
        text.c_str());
    frame.ui.tag("whatif/progress", text);
    ImGui::SameLine();
    if (ImGui::Button("Cancel")) frame.model.what_if().cancel(frame.model);
    frame.ui.tag("whatif/cancel");
  }

  void draw_result(Frame& frame, const WhatIf& result) {
    ImGui::PushTextWrapPos(0);
    ImGui::PushFont(frame.ui.fonts.bold);
    frame.ui.state_word(
        result.completes > 0 || result.unchanged_completes ? StateKind::kOk : StateKind::kMismatch,
        result.conclusion);
    ImGui::PopFont();
    frame.ui.tag("whatif/conclusion", result.conclusion);
    if (!frame.model.what_if().about_this(frame.model))
      frame.ui.text_dim(
          "This result is from an earlier stop, or from the text before it was changed.");
    if (result.of_given && !result.reformatted && result.completes > 0)
      frame.ui.text_dim("Lines are counted as in the file, which the Edit panel shows.");
    if (!result.of_given && result.completes > 0)
      frame.ui.text_dim("The edits apply to the running text, which differs from the file.");
    if (result.reformatted)
      frame.ui.text_dim(
          "They apply to the text as reprinted, with one instruction per line; line numbers are "
          "those of the reprinted text.");
    if (!result.leaks.empty()) {
      frame.ui.text_dim(result.leaks);
      frame.ui.tag("whatif/leaks", result.leaks);
    }
    ImGui::PopTextWrapPos();
    ImGui::BeginChild("edits");
    for (size_t i = 0; i < result.completes; ++i) draw_trial(frame, result, i);
    draw_others(frame, result);
    ImGui::EndChild();
  }

  void draw_others(Frame& frame, const WhatIf& result) {
    const size_t others = result.trials.size() - result.completes;
    if (others == 0) return;
    const std::string text = fmt::format("{} {} that did not help", show_others_ ? "Hide" : "Show",
                                         counted(others, "edit"));
    if (ImGui::SmallButton(text.c_str())) show_others_ = !show_others_;
    frame.ui.tag("whatif/others", text);
    if (!show_others_) return;
    const size_t end = result.completes + std::min(others, kMostOthers);
    for (size_t i = result.completes; i < end; ++i) draw_trial(frame, result, i);
    if (others <= kMostOthers) return;
    const std::string more = fmt::format("{} more edits that did not help", others - kMostOthers);
    frame.ui.text_dim(more);
    frame.ui.tag("whatif/more", more);
    frame.ui.say_hidden(more);
  }

  bool is_open(size_t i) const {
    return i < kOpenAtFirst ? !closed_.contains(i) : opened_.contains(i);
  }

  void draw_trial(Frame& frame, const WhatIf& result, size_t i) {
    const WhatIfTrial& trial = result.trials[i];
    ImGui::PushID(static_cast<int>(i));
    const bool open = is_open(i);
    const float top = ImGui::GetCursorPosY();
    const std::string words = verdict_words(trial);
    if (ImGui::ArrowButton("open", open ? ImGuiDir_Down : ImGuiDir_Right)) {
      std::set<size_t>& set = i < kOpenAtFirst ? closed_ : opened_;
      if (!set.erase(i)) set.insert(i);
    }
    frame.ui.tag(fmt::format("whatif/edit/{}", i), trial.edit.sentence);
    ImGui::SameLine();
    ImGui::SetCursorPosY(top + ImGui::GetStyle().FramePadding.y);
    ImGui::BeginGroup();
    frame.ui.state_word(trial_state(trial), words);
    frame.ui.tag(fmt::format("whatif/verdict/{}", i), words);
    Ui::flow(std::min(ImGui::CalcTextSize(trial.edit.sentence.c_str()).x,
                      ImGui::GetContentRegionAvail().x));
    ImGui::PushTextWrapPos(0);
    frame.ui.text(trial.edit.sentence);
    ImGui::PopTextWrapPos();
    frame.ui.tag(fmt::format("whatif/sentence/{}", i), trial.edit.sentence);
    if (open) draw_open(frame, result, i);
    ImGui::EndGroup();
    ImGui::PopID();
  }

  static void draw_open(Frame& frame, const WhatIf& result, size_t i) {
    const WhatIfTrial& trial = result.trials[i];
    ImGui::PushTextWrapPos(0);
    if (!trial.why.empty()) frame.ui.text_dim(trial.why);
    for (const std::string& warning : trial.warnings)
      frame.ui.state_word(StateKind::kWaiting, warning);
    for (const std::string& failure : trial.claims.failures)
      frame.ui.state_word(StateKind::kFailed, failure);
    ImGui::PopTextWrapPos();
    const WhatIfSearch& search = frame.model.what_if();
    Document& document = frame.model.document();
    const bool can_open =
        result.of_given && document.is_program() && document.path() == search.path();
    ImGui::BeginDisabled(!can_open);
    if (ImGui::SmallButton("Open in the editor")) {
      if (document.put(search.text_of(trial))) frame.actions.request("panel.editor");
    }
    ImGui::EndDisabled();
    frame.ui.tag(fmt::format("whatif/open/{}", i));
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
      Ui::tooltip("%s", can_open ? "The text goes to the Edit panel, unsaved. Nothing runs until "
                                   "you press Ctrl+Enter there."
                                 : "The running text was made by lowering or comes from a log, so "
                                   "the editor does not have it. Copy the edit instead.");
    }
    ImGui::SameLine();
    if (ImGui::SmallButton("Copy the text")) ImGui::SetClipboardText(trial.edit.text.c_str());
    frame.ui.tag(fmt::format("whatif/copy/{}", i));
    draw_diff_lines(frame, trial.edit.diff);
    frame.ui.tag(fmt::format("whatif/diff/{}", i), diff_text(trial.edit.diff));
    ImGui::Dummy(ImVec2(0, frame.ui.px(4)));
  }

  uint64_t seen_ = 0;
  std::set<size_t> closed_;  // among the edits that are initially expanded
  std::set<size_t> opened_;  // among the others
  bool show_others_ = false;
};

std::string button_text(const Model& model) {
  const WhatIf* result = model.what_if().result();
  if (model.what_if().running()) return "What if: searching";
  if (!result || !model.what_if().about_this(model)) return "What if\u2026";
  if (result->unchanged_completes) return "What if: completes as it is";
  return fmt::format("What if: {} found", counted(result->completes, "edit"));
}

}  // namespace

float what_if_button_width(const Frame& frame) {
  if (!WhatIfSearch::possible(frame.model)) return 0;
  return ImGui::CalcTextSize(button_text(frame.model).c_str()).x +
         2 * ImGui::GetStyle().FramePadding.x;
}

void what_if_button(Frame& frame, const std::string& name) {
  if (!WhatIfSearch::possible(frame.model)) return;
  const std::string text = button_text(frame.model);
  if (ImGui::Button(text.c_str())) {
    // If a search is running or its result is current, show the panel; else start a search.
    const WhatIfSearch& search = frame.model.what_if();
    const bool known = search.running() || (search.result() && search.about_this(frame.model));
    frame.actions.request(known ? "panel.whatif" : "whatif");
  }
  frame.ui.tag(name, text);
  if (ImGui::IsItemHovered())
    Ui::tooltip(
        "Proposes small edits of the program, tries each in the background, and\n"
        "says which let it complete. Nothing is changed without a click.");
}

std::unique_ptr<Panel> make_what_if_panel() { return std::make_unique<WhatIfPanel>(); }

}  // namespace hostir::gui
