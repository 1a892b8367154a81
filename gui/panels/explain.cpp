// Why each value is sharded as it is and why each collective is there, as the compiler recorded it.
#include <fmt/core.h>

#include "gui/panels/log_fetch.h"
#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class ExplainPanel : public Panel {
 public:
  std::string_view id() const override { return "explain"; }
  std::string_view title() const override { return "Explain"; }
  std::string_view hint() const override {
    return "Why the selected value is sharded as it is, and why each collective is there. Programs "
           "written by hand have "
           "no such records.";
  }

  void draw(Frame& frame) override {
    const uint64_t key = frame.model.last_opened();
    const auto* records =
        fetch_.get(frame.model, key,
                   [](const interp::LogView& log, std::stop_token)
                       -> Expected<std::vector<interp::LogExplain>> { return log.explanations(); });
    if (!records || records->empty()) return frame.ui.empty_hint(hint());
    ImGui::Checkbox("only the selected value", &selected_only_);
    frame.ui.tag("explain/only", selected_only_ ? "on" : "off");
    const std::string wanted = frame.model.selection.value;
    size_t shown = 0;
    ImGui::BeginChild("records");
    for (const interp::LogExplain& r : *records) {
      const bool matches = wanted.empty() || r.subject == wanted || r.subject == "%" + wanted;
      if (selected_only_ && !matches) continue;
      ImGui::PushTextWrapPos(0);
      ImGui::PushFont(frame.ui.fonts.mono);
      const std::string subject =
          (r.subject.starts_with('%') || r.subject.starts_with('@') ? "" : "%") + r.subject;
      ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(frame.ui.pal().link), "%s",
                         subject.c_str());
      ImGui::PopFont();
      if (ImGui::IsItemClicked() && subject.front() == '%')
        frame.model.selection.value = subject.substr(1);
      ImGui::SameLine();
      frame.ui.text_dim(r.rule);
      ImGui::TextUnformatted(r.text.c_str());
      frame.ui.tag(fmt::format("explain/{}", shown), r.text);
      ImGui::PopTextWrapPos();
      ImGui::Dummy(ImVec2(0, frame.ui.px(3)));
      ++shown;
    }
    if (shown == 0)
      frame.ui.empty_hint(
          fmt::format("nothing was recorded about %{}; clear the box to see everything", wanted));
    ImGui::EndChild();
  }

 private:
  bool selected_only_ = false;
  LogFetch<uint64_t, std::vector<interp::LogExplain>> fetch_{"explain"};
};

}  // namespace

std::unique_ptr<Panel> make_explain_panel() { return std::make_unique<ExplainPanel>(); }

}  // namespace hostir::gui
