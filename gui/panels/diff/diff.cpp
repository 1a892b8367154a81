// Two runs side by side: differences other than values, then all writes, then one write in
// pictures.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>

#include "gui/panels/diff/diff_heat.h"
#include "gui/panels/diff/diff_table.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

using interp::WriteOutcome;

class DiffPanel : public Panel {
 public:
  std::string_view id() const override { return "diff"; }
  std::string_view title() const override { return "Diff"; }
  std::string_view hint() const override {
    return "Compares two runs write by write. Press \"Keep this run\" and run something else "
           "(another "
           "input, an edited value or text), or open another log to compare with: the first "
           "divergence is shown on top, Ctrl+F8 goes there.";
  }

  void draw(Frame& frame) override {
    Comparison& comparison = frame.model.comparison();
    comparison.set_shown();
    draw_choice(frame);
    if (!comparison.active()) return frame.ui.empty_hint(hint());
    if (!comparison.error().empty()) {
      frame.ui.state_word(StateKind::kFailed, comparison.error());
      frame.ui.tag("diff/error", comparison.error());
      return draw_again(comparison, frame);
    }
    draw_doing(frame);
    if (!comparison.view()) {
      if (!comparison.doing().empty()) return;
      return draw_again(comparison, frame);
    }
    draw_verdict(frame);
    draw_facts(frame);
    draw_diff_strip(frame);
    draw_filters(frame);
    draw_writes(frame);
  }

 private:
  static void draw_again(Comparison& comparison, Frame& frame) {
    if (ImGui::SmallButton("Compare again")) comparison.again();
    frame.ui.tag("diff/again");
  }

  // ---- choosing the other run
  void draw_choice(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    const std::string why_not = Comparison::why_not_keep(frame.model);
    ImGui::BeginDisabled(!why_not.empty());
    if (ImGui::SmallButton("Keep this run")) comparison.keep(frame.model);
    ImGui::EndDisabled();
    frame.ui.tag("diff/keep", why_not);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
      Ui::tooltip("%s", why_not.empty() ? "This run up to here becomes A; what runs afterwards "
                                          "is B."
                                        : why_not.c_str());
    Ui::flow(frame.ui.px(260));
    ImGui::SetNextItemWidth(frame.ui.px(180));
    bool go = ImGui::InputTextWithHint("##other", "another log to compare with", &path_,
                                       ImGuiInputTextFlags_EnterReturnsTrue);
    frame.ui.tag("diff/path", path_);
    ImGui::SameLine();
    ImGui::BeginDisabled(path_.empty());
    go = ImGui::SmallButton("Compare") || go;
    ImGui::EndDisabled();
    frame.ui.tag("diff/open");
    if (go && !path_.empty()) comparison.open(path_);
    draw_recent(frame);
    if (!comparison.active()) return;
    Ui::flow(frame.ui.px(60));
    if (ImGui::SmallButton("Close")) comparison.close();
    frame.ui.tag("diff/close");
    const std::string names =
        fmt::format("A: {}    B: {} (this run)", comparison.name_a(), name_b(frame));
    Ui::flow(ImGui::CalcTextSize(names.c_str()).x);
    frame.ui.text_dim(names);
    frame.ui.tag("diff/names", names);
  }

  void draw_recent(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    if (comparison.recent().empty()) return;
    Ui::flow(frame.ui.px(70));
    if (ImGui::SmallButton("Recent \u25be")) ImGui::OpenPopup("recent");
    frame.ui.tag("diff/recent");
    if (!ImGui::BeginPopup("recent")) return;
    std::string chosen;
    for (const std::string& path : comparison.recent()) {
      if (ImGui::Selectable(path.c_str())) chosen = path;
      frame.ui.tag("diff/recent/" + io::file_name(path));
    }
    ImGui::EndPopup();
    if (chosen.empty()) return;
    path_ = chosen;
    comparison.open(chosen);
  }

  static std::string name_b(const Frame& frame) { return io::file_name(frame.model.path()); }

  static void draw_doing(Frame& frame) {
    const std::string doing = frame.model.comparison().doing();
    if (doing.empty()) return;
    frame.ui.text_dim(doing);
    frame.ui.tag("diff/doing", doing);
    ImGui::SameLine();
    if (ImGui::SmallButton("Cancel")) frame.model.comparison().cancel();
    frame.ui.tag("diff/cancel");
  }

  // ---- results
  static void draw_verdict(Frame& frame) {
    const DiffView& view = *frame.model.comparison().view();
    const interp::RunDiff& diff = *view.diff;
    const auto total = static_cast<int64_t>(view.outcomes.size());
    std::string text;
    StateKind state = StateKind::kOk;
    const std::optional<uint32_t> at = view.first ? view.first : view.first_other_bits;
    if (!at) {
      const int64_t equal = view.count(WriteOutcome::kEqual);
      text = fmt::format("All {} writes have equal bits.", equal);
      if (equal == 0) text = "No write has occurred in both runs yet: continue this one.";
      if (equal == 0) state = StateKind::kMissing;
    } else {
      const WriteOutcome outcome = view.outcomes[*at];
      state = state_of(outcome);
      const interp::WriteDifference* d = view.of(*at);
      text =
          fmt::format("{}: {}: {}.", view.first ? "First divergence" : "Within limits; first other",
                      diff.place(diff.rows[*at]),
                      d ? interp::describe(*d) : interp::describe(outcome, view.limits));
      text += fmt::format(" {} of {} writes are not equal.", view.different(), total);
    }
    if (at) {
      if (ImGui::SmallButton("Ctrl+F8")) frame.actions.request("diff.next");
      frame.ui.tag("diff/go");
      if (ImGui::IsItemHovered()) Ui::tooltip("Go there; press again for the next one.");
      ImGui::SameLine();
    }
    ImGui::PushTextWrapPos(0);
    frame.ui.state_word(state, text);
    ImGui::PopTextWrapPos();
    frame.ui.tag("diff/result", text);
  }

  void draw_facts(Frame& frame) {
    const interp::RunDiff& diff = *frame.model.comparison().view()->diff;
    if (diff.facts.empty()) return;
    const size_t shown = all_facts_ ? diff.facts.size() : std::min(kFewFacts, diff.facts.size());
    ImGui::PushTextWrapPos(0);
    for (size_t i = 0; i < shown; ++i) {
      const std::string text = "\u2022 " + diff.facts[i].sentence;
      frame.ui.text_dim(text);
      frame.ui.tag(fmt::format("diff/fact/{}", i), diff.facts[i].sentence);
    }
    ImGui::PopTextWrapPos();
    if (diff.facts.size() <= kFewFacts) return;
    const std::string label =
        all_facts_ ? "fewer" : fmt::format("{} more", diff.facts.size() - kFewFacts);
    if (ImGui::SmallButton(label.c_str())) all_facts_ = !all_facts_;
    frame.ui.tag("diff/facts", label);
    if (!all_facts_)
      frame.ui.say_hidden(
          fmt::format("{} other differences of the runs", diff.facts.size() - shown));
  }

  static void draw_filters(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    const DiffView& view = *comparison.view();
    bool only = comparison.only_different();
    if (ImGui::Checkbox("only what differs", &only)) comparison.show_only_different(only);
    frame.ui.tag("diff/only", only ? "on" : "off");
    if (only && view.count(WriteOutcome::kEqual) > 0)
      frame.ui.say_hidden(fmt::format("{} equal writes", view.count(WriteOutcome::kEqual)));
    interp::DiffLimits limits = comparison.limits();
    Ui::flow(frame.ui.px(110));
    ImGui::SetNextItemWidth(frame.ui.px(60));
    ImGui::InputScalar("ulp", ImGuiDataType_S64, &limits.ulp);
    frame.ui.tag("diff/ulp", std::to_string(limits.ulp));
    if (ImGui::IsItemHovered())
      Ui::tooltip("Differences up to this many ulp count as nearly equal.");
    Ui::flow(frame.ui.px(140));
    ImGui::SetNextItemWidth(frame.ui.px(70));
    ImGui::InputDouble("x max |b|", &limits.relative, 0, 0, "%.1g");
    frame.ui.tag("diff/relative", fmt::format("{:.1g}", limits.relative));
    if (ImGui::IsItemHovered())
      Ui::tooltip("|a - b| up to this share of the largest element is within tolerance.");
    limits.ulp = std::max<int64_t>(0, limits.ulp);
    limits.relative = std::max(0.0, limits.relative);
    comparison.set_limits(limits);
    draw_counts(frame, view);
    draw_measuring(frame);
  }

  static void draw_measuring(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    if (comparison.unmeasured() > 0 && !comparison.measuring()) {
      Ui::flow(frame.ui.px(200));
      if (ImGui::SmallButton(fmt::format("Measure {} writes", comparison.unmeasured()).c_str()))
        comparison.measure_all();
      frame.ui.tag("diff/measure");
      if (ImGui::IsItemHovered())
        Ui::tooltip(
            "The logs keep digests of these, not contents. Runs both programs again in the\n"
            "background, as they were logged, and compares what they write.\n"
            "(hostir run --trace-values data=NAME keeps contents.)");
    }
    if (comparison.measure_error().empty()) return;
    const std::string text = "no numbers: " + comparison.measure_error();
    ImGui::PushTextWrapPos(0);
    frame.ui.text_dim(text);
    ImGui::PopTextWrapPos();
    frame.ui.tag("diff/measure_error", text);
  }

  static void draw_counts(Frame& frame, const DiffView& view) {
    std::string text;
    for (size_t i = 0; i < view.counts.size(); ++i) {
      if (view.counts[i] == 0) continue;
      const auto outcome = static_cast<WriteOutcome>(i);
      text += fmt::format("{}{} {} {}", text.empty() ? "" : "    ", glyph(state_of(outcome)),
                          view.counts[i], interp::describe(outcome, view.limits));
    }
    Ui::flow(ImGui::CalcTextSize(text.c_str()).x);
    frame.ui.text_dim(text);
    frame.ui.tag("diff/counts", text);
  }

  // ---- the writes and the selected one
  void draw_writes(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    const bool reveal = comparison.selected() != revealed_;
    revealed_ = comparison.selected();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    if (!comparison.selected()) return draw_diff_table(frame, space, false);
    const bool beside = space.x > frame.ui.px(1100);
    const ImVec2 table = beside ? ImVec2(space.x * 0.5f, space.y)
                                : ImVec2(space.x, std::max(frame.ui.px(84), space.y * 0.3f));
    draw_diff_table(frame, table, reveal);
    if (beside) ImGui::SameLine();
    // If there is too little room for the pictures, the panel scrolls.
    const float rest = beside ? space.y : space.y - table.y - ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("selected", ImVec2(0, std::max(rest, frame.ui.px(230))), false);
    draw_selected(frame);
    ImGui::EndChild();
  }

  void draw_selected(Frame& frame) {
    Comparison& comparison = frame.model.comparison();
    const DiffView& view = *comparison.view();
    const uint32_t row = *comparison.selected();
    const interp::RunDiff& diff = *view.diff;
    const DiffContents* contents = comparison.contents();
    const interp::WriteDifference* d = contents ? &contents->difference : view.of(row);
    if (contents) {
      if (ImGui::SmallButton(comparison.swapped ? "Swap back (X)" : "Swap A and B (X)"))
        comparison.swapped = !comparison.swapped;
      frame.ui.tag("diff/swap", comparison.swapped ? "swapped" : "");
      ImGui::SameLine();
    }
    ImGui::PushTextWrapPos(0);
    frame.ui.text(diff.place(diff.rows[row]));
    frame.ui.tag("diff/selected", diff.place(diff.rows[row]));
    if (d && view.outcomes[row] != WriteOutcome::kEqual) {
      const std::string text = interp::describe(*d) + ulp_classes(*d);
      frame.ui.text_dim(text);
      frame.ui.tag("diff/numbers", text);
    }
    if (const DiffSources* sources = comparison.sources(); sources && !sources->sentence.empty()) {
      frame.ui.text_dim(sources->sentence);
      frame.ui.tag("diff/source", sources->sentence);
      if (sources->cause) {
        ImGui::SameLine();
        if (ImGui::SmallButton("go to it")) comparison.go_to(frame.model, *sources->cause);
        frame.ui.tag("diff/cause");
      }
    }
    draw_innocent(frame, view, row, d);
    ImGui::PopTextWrapPos();
    if (!contents) return draw_no_contents(frame, view, row);
    pictures_.draw(frame, comparison.name_a(), name_b(frame));
  }

  // Explains why a difference may be harmless: another order of summation.
  static void draw_innocent(Frame& frame, const DiffView& view, uint32_t row,
                            const interp::WriteDifference* d) {
    const interp::RunDiff& diff = *view.diff;
    if (!d || d->differing == 0 || diff.other_order.empty()) return;
    if (d->not_finite > 0) return;
    if (!is_float(diff.tensor(diff.rows[row]).dtype)) return;
    const std::string text = fmt::format(
        "Possibly harmless: {}. Here that is at most {}, {:.2g} of the largest element.",
        diff.other_order, interp::describe_ulp(d->max_ulp),
        d->scale > 0 ? d->max_abs / d->scale : 0.0);
    frame.ui.text_dim(text);
    frame.ui.tag("diff/innocent", text);
  }

  static std::string ulp_classes(const interp::WriteDifference& d) {
    static constexpr const char* kClasses[] = {"1", "2-4", "5-16", "17-256", "257-65536", "more"};
    std::string out;
    for (size_t i = 0; i < d.by_ulp.size(); ++i) {
      if (d.by_ulp[i] > 0)
        out += fmt::format("{}{} ulp: {}", out.empty() ? "; by distance " : ", ", kClasses[i],
                           d.by_ulp[i]);
    }
    return out;
  }

  static void draw_no_contents(Frame& frame, const DiffView& view, uint32_t row) {
    Comparison& comparison = frame.model.comparison();
    if (!view.diff->is_comparable(view.diff->rows[row])) {
      const std::string text =
          "Only one run wrote this, or the runs hold different parts of it, so there is nothing to "
          "compare.";
      ImGui::PushTextWrapPos(0);
      frame.ui.text_dim(text);
      ImGui::PopTextWrapPos();
      frame.ui.tag("diff/no_contents", text);
      return;
    }
    if (!comparison.doing().empty()) return frame.ui.text_dim("...");
    if (!comparison.must_ask()) return;
    if (ImGui::SmallButton("Run both again up to here")) comparison.ask_contents();
    frame.ui.tag("diff/contents");
  }

  static constexpr size_t kFewFacts = 4;
  std::string path_;
  bool all_facts_ = false;
  std::optional<uint32_t> revealed_;
  DiffPictures pictures_;
};

}  // namespace

std::unique_ptr<Panel> make_diff_panel() { return std::make_unique<DiffPanel>(); }

}  // namespace hostir::gui
