// What happened: answers of commands, stops, errors.
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

  void draw(Frame& frame) override {
    const auto& messages = frame.model.messages();
    if (messages.empty()) return frame.ui.empty_hint(hint());
    ImGui::BeginChild("list", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    for (const Message& m : messages) {
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

  size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_messages_panel() { return std::make_unique<MessagesPanel>(); }

}  // namespace hostir::gui
