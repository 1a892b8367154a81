#include "gui/panels/timeline_notes.h"

#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "gui/panels/timeline_view.h"

namespace hostir::gui {

void TimelineNotes::open(int64_t time_ns) {
  time_ns_ = time_ns;
  text_.clear();
  ImGui::OpenPopup("note");
}

void TimelineNotes::draw_popup(Frame& frame) {
  if (!ImGui::BeginPopup("note")) return;
  frame.ui.text_dim("note at " + format_time(static_cast<double>(time_ns_), 1));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  if (ImGui::InputText("##note", &text_, ImGuiInputTextFlags_EnterReturnsTrue) && !text_.empty()) {
    notes_.push_back({time_ns_, text_});
    ImGui::CloseCurrentPopup();
  }
  frame.ui.tag("timeline/note");
  if (!notes_.empty() && ImGui::Button("Remove the nearest note")) {
    notes_.erase(std::min_element(
        notes_.begin(), notes_.end(), [this](const TimelineNote& a, const TimelineNote& b) {
          return std::abs(a.time_ns - time_ns_) < std::abs(b.time_ns - time_ns_);
        }));
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

std::string TimelineNotes::save() const {
  std::string out;
  for (const TimelineNote& note : notes_)
    out += fmt::format("note={} {}\n", note.time_ns, note.text);
  return out;
}

void TimelineNotes::restore(std::string_view text) {
  constexpr std::string_view kKey = "note=";
  notes_.clear();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kKey)) continue;
    int64_t time = 0;
    const char* last = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data() + kKey.size(), last, time);
    if (error == std::errc() && rest != last) notes_.push_back({time, std::string(rest + 1, last)});
  }
}

}  // namespace hostir::gui
