#include "gui/panels/timeline/timeline_notes.h"

#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstdlib>

#include "gui/panels/timeline/timeline_view.h"

namespace hostir::gui {

void TimelineNotes::open(int64_t time_ns) {
  time_ns_ = time_ns;
  text_.clear();
  ImGui::OpenPopup("note");
}

void TimelineNotes::draw_popup(Frame& frame) {
  if (!ImGui::BeginPopup("note")) return;
  std::vector<TimelineNote>& notes = frame.model.timeline_notes;
  frame.ui.text_dim("note at " + format_time(static_cast<double>(time_ns_), 1));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  if (ImGui::InputText("##note", &text_, ImGuiInputTextFlags_EnterReturnsTrue) && !text_.empty()) {
    notes.push_back({time_ns_, text_});
    ImGui::CloseCurrentPopup();
  }
  frame.ui.tag("timeline/note");
  if (!notes.empty() && ImGui::Button("Remove the nearest note")) {
    notes.erase(std::min_element(
        notes.begin(), notes.end(), [this](const TimelineNote& a, const TimelineNote& b) {
          return std::abs(a.time_ns - time_ns_) < std::abs(b.time_ns - time_ns_);
        }));
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace hostir::gui
