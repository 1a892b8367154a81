// What happened: answers of commands, stops, errors.
#include <array>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class MessagesPanel : public Panel {
 public:
  std::string_view id() const override { return "messages"; }
  std::string_view title() const override { return "Messages"; }
  std::string_view hint() const override {
    return "Answers of commands, reasons of stops, errors, newest last.";
  }
  bool needs_session() const override { return false; }

  std::string save() const override {
    std::string text = "show=";
    for (const bool on : shown_) text += on ? '1' : '0';
    return text;
  }
  void restore(std::string_view text) override {
    if (!text.starts_with("show=") || text.size() < 5 + shown_.size()) return;
    for (size_t i = 0; i < shown_.size(); ++i) shown_[i] = text[5 + i] != '0';
  }

  void draw(Frame& frame) override {
    const auto& messages = frame.model.messages();
    if (messages.empty()) return frame.ui.empty_hint(hint());
    draw_levels(frame);
    ImGui::BeginChild("list", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    for (const Message& m : messages) {
      if (!shown_[static_cast<size_t>(m.kind)]) continue;
      ImGui::PushStyleColor(ImGuiCol_Text, colour(frame.ui.pal(), m.kind));
      ImGui::TextUnformatted(m.text.c_str(), m.text.c_str() + m.text.size());
      ImGui::PopStyleColor();
    }
    frame.ui.tag("messages/last", messages.back().text);
    ImGui::PopFont();
    if (messages.size() != seen_) ImGui::SetScrollHereY(1.0f);
    seen_ = messages.size();
    ImGui::EndChild();
  }

 private:
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
    }
    return p.text;
  }

  // Which kinds are shown; what is left out is counted.
  void draw_levels(Frame& frame) {
    constexpr const char* kNames[] = {"answers", "good news", "warnings", "errors"};
    size_t hidden = 0;
    for (size_t i = 0; i < shown_.size(); ++i) {
      if (i > 0) ImGui::SameLine();
      ImGui::Checkbox(kNames[i], &shown_[i]);
      frame.ui.tag(std::string("messages/level/") + kNames[i], shown_[i] ? "on" : "off");
    }
    for (const Message& m : frame.model.messages())
      hidden += shown_[static_cast<size_t>(m.kind)] ? 0U : 1U;
    if (hidden > 0) frame.ui.say_hidden(std::to_string(hidden) + " messages");
  }

  std::array<bool, 4> shown_{true, true, true, true};  // by Message::Kind
  size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_messages_panel() { return std::make_unique<MessagesPanel>(); }

}  // namespace hostir::gui
