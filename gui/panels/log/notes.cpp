// Bookmarks: named positions to return to, kept with the program.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

class NotesPanel : public Panel {
 public:
  std::string_view id() const override { return "notes"; }
  std::string_view title() const override { return "Bookmarks"; }
  std::string_view hint() const override {
    return "Named positions of the run. Ctrl+B sets one here, Ctrl+1 to Ctrl+9 go "
           "to them, forwards or backwards. They are kept with the program.";
  }

  void draw(Frame& frame) override {
    if (ImGui::Button("Bookmark this position")) frame.actions.request("bookmark");
    frame.ui.tag("notes/add");
    std::vector<Bookmark>& all = frame.model.bookmarks;
    if (all.empty()) return frame.ui.empty_hint(hint());
    if (!ImGui::BeginTable(
            "bookmarks", 4,
            ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY))
      return;
    ImGui::TableSetupColumn("key");
    ImGui::TableSetupColumn("position");
    ImGui::TableSetupColumn("note", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("");
    ImGui::TableHeadersRow();
    size_t removed = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      if (draw_row(frame, all[i], i) == Row::kRemove) removed = i;
    }
    ImGui::EndTable();
    if (removed < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(removed));
  }

 private:
  enum class Row : uint8_t { kKeep, kRemove };

  static Row draw_row(Frame& frame, Bookmark& bookmark, size_t i) {
    const bool here = frame.model.snapshot()->position.decision == bookmark.decision;
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    frame.ui.text_dim(i < 9 ? fmt::format("Ctrl+{}", i + 1) : "");
    ImGui::TableNextColumn();
    const std::string label = fmt::format("{}{}", here ? "\u25b8 " : "", bookmark.decision);
    if (ImGui::SmallButton(label.c_str()))
      frame.actions.command(fmt::format("goto {}", bookmark.decision));
    frame.ui.tag(fmt::format("notes/{}", i), bookmark.text);
    if (ImGui::IsItemHovered()) Ui::tooltip("Go there");
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-1);
    ImGui::InputText("##text", &bookmark.text);
    frame.ui.tag(fmt::format("notes/{}/text", i), bookmark.text);
    ImGui::TableNextColumn();
    const bool remove = ImGui::SmallButton("delete");
    frame.ui.tag(fmt::format("notes/{}/delete", i));
    ImGui::PopID();
    return remove ? Row::kRemove : Row::kKeep;
  }
};

}  // namespace

std::unique_ptr<Panel> make_notes_panel() { return std::make_unique<NotesPanel>(); }

}  // namespace hostir::gui
