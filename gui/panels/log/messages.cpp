// The message list: results of commands, log point lines, stops, errors.
#include <fmt/core.h>

#include <array>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class MessagesPanel : public Panel {
 public:
  std::string_view id() const override { return "messages"; }
  std::string_view title() const override { return "Messages"; }
  std::string_view hint() const override {
    return "Answers of commands, lines of log points, reasons of stops, errors, newest last.";
  }
  bool needs_session() const override { return false; }

  std::string save() const override {
    std::string text = "show=";
    for (const bool on : shown_) text += on ? '1' : '0';
    return text;
  }
  void restore(std::string_view text) override {
    if (!text.starts_with("show=")) return;
    for (size_t i = 0; i < shown_.size() && 5 + i < text.size(); ++i)
      shown_[i] = text[5 + i] != '0';
  }

  void draw(Frame& frame) override {
    const auto& messages = frame.model.messages();
    if (messages.empty()) return frame.ui.empty_hint(hint());
    draw_levels(frame);
    ImGui::BeginChild("list", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    const float right = ImGui::GetWindowContentRegionMax().x + ImGui::GetScrollX();
    for (size_t i = 0; i < messages.size(); ++i) {
      const Message& m = messages[i];
      if (!shown_[static_cast<size_t>(m.kind)]) continue;
      if (m.line) {
        draw_line(frame, m, i);
        continue;
      }
      ImGui::PushStyleColor(ImGuiCol_Text, colour(frame.ui.pal(), m.kind));
      // Wrap sentences, but not tables.
      const bool wraps = m.text.find('\n') == m.text.npos;
      if (wraps) ImGui::PushTextWrapPos(right);
      frame.ui.text(m.text);
      frame.ui.tag(fmt::format("messages/{}", i), m.text);
      if (wraps) ImGui::PopTextWrapPos();
      ImGui::PopStyleColor();
    }
    frame.ui.tag("messages/last", messages.back().text);
    ImGui::PopFont();
    if (messages.size() != seen_) ImGui::SetScrollHereY(1.0f);
    seen_ = messages.size();
    ImGui::EndChild();
  }

 private:
  // A log line; a click focuses its rank and selects its instruction.
  static void draw_line(Frame& frame, const Message& m, size_t i) {
    ImGui::PushID(static_cast<int>(i));
    const std::string text = "\u25c6 " + m.text;
    const bool clicked = ImGui::Selectable(text.c_str());
    frame.ui.tag(fmt::format("messages/log/{}", i), m.text);
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      frame.model.hovered.code = m.line->code;
      const std::string from =
          m.line->breakpoint > 0 ? fmt::format("Log point {}. ", m.line->breakpoint) : "";
      Ui::tooltip("%sClick: look at rank %d and this instruction", from.c_str(), m.line->rank);
    }
    if (!clicked) return;
    frame.model.selection.code = m.line->code;
    frame.model.selection.rank = m.line->rank;
    if (!frame.model.running()) frame.actions.command(fmt::format("focus {}", m.line->rank));
  }

  static ImU32 colour(const Palette& p, Message::Kind kind) {
    switch (kind) {
      case Message::Kind::kInfo:
        return p.text;
      case Message::Kind::kGood:
        return p.state(StateKind::kOk);
      case Message::Kind::kWarning:
        return p.state(StateKind::kWaiting);
      case Message::Kind::kError:
        return p.state(StateKind::kMismatch);
      case Message::Kind::kLog:
        return p.text_dim;
    }
    return p.text;
  }

  // Check boxes for the kinds shown; counts hidden messages.
  void draw_levels(Frame& frame) {
    constexpr const char* kNames[] = {"answers", "good news", "warnings", "errors", "log lines"};
    size_t hidden = 0;
    for (size_t i = 0; i < shown_.size(); ++i) {
      const float box = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x;
      if (i > 0) Ui::flow(box + ImGui::CalcTextSize(kNames[i]).x);
      ImGui::Checkbox(kNames[i], &shown_[i]);
      frame.ui.tag(std::string("messages/level/") + kNames[i], shown_[i] ? "on" : "off");
    }
    for (const Message& m : frame.model.messages())
      hidden += shown_[static_cast<size_t>(m.kind)] ? 0U : 1U;
    if (hidden > 0) frame.ui.say_hidden(std::to_string(hidden) + " messages");
  }

  std::array<bool, 5> shown_{true, true, true, true, true};  // indexed by Message::Kind
  size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_messages_panel() { return std::make_unique<MessagesPanel>(); }

}  // namespace hostir::gui
