#include "gui/panels/timeline_find.h"

#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

namespace hostir::gui {

std::string TimelineFind::status() const {
  if (found_.empty()) return fmt::format("nothing is called \"{}\"", text_);
  if (found_.size() == 1) return "1 instruction matches and is lit";
  return fmt::format("{} instructions match and are lit", found_.size());
}

bool TimelineFind::draw(Frame& frame, const TimelineNames& names) {
  ImGui::SetNextItemWidth(frame.ui.px(190));
  const bool enter = ImGui::InputTextWithHint("##find", "find: all_reduce, a kernel", &text_,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  frame.ui.tag("timeline/find", text_);
  ImGui::SameLine();
  const bool button = ImGui::SmallButton("Next");
  frame.ui.tag("timeline/next");
  found_.clear();
  for (size_t i = 0; i < names.texts.size() && !text_.empty(); ++i) {
    if (names.texts[i].find(text_) != std::string::npos ||
        names.names[i].find(text_) != std::string::npos)
      found_.push_back(static_cast<interp::CodeIndex>(i));
  }
  return (enter || button) && !found_.empty();
}

void TimelineFind::next(Frame& frame, const interp::LogEvent* from, int64_t after_ns) const {
  interp::EventFilter filter;
  filter.instructions = found_;
  filter.shown_only = true;
  int64_t after_id = -1;
  if (from != nullptr && from->begin_ns() != interp::kUnknownNs) {
    after_ns = from->begin_ns();
    after_id = from->id;
  }
  filter.from_ns = after_ns;
  filter.limit = 512;  // events are in order of issue, which is nearly that of time
  Model* model = &frame.model;
  model->worker().ask_log(
      "timeline/find",
      [=](const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
        const auto events = log.events(filter, stop);
        if (!events) return {};
        const interp::LogEvent* best = nullptr;
        for (const interp::LogEvent& e : *events) {
          const bool later =
              e.begin_ns() > after_ns || (e.begin_ns() == after_ns && e.id > after_id);
          if (later && (best == nullptr || e.begin_ns() < best->begin_ns())) best = &e;
        }
        if (best == nullptr) {
          return [model] {
            model->add_message(Message::Kind::kInfo, "timeline: there is no later match");
          };
        }
        return [model, event = best->id] { model->selection.event = event; };
      });
}

}  // namespace hostir::gui
