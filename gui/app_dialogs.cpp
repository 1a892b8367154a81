// Key help and the file dialog.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>

#include "gui/app.h"
#include "interp/session/command_table.h"

namespace hostir::gui {

namespace {

bool escape_pressed() { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)); }

}  // namespace

void App::draw_help() {
  if (!help_open_) return;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(screen.x / 2, screen.y / 2), ImGuiCond_Appearing,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(
      ImVec2(std::min(ui_.px(760), screen.x - 20), std::min(ui_.px(620), screen.y - 20)),
      ImGuiCond_Appearing);
  if (ImGui::Begin("Keys and commands", &help_open_,
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    if (ImGui::BeginTable("keys", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) {
      for (const Action& action : actions_.all()) {
        if (action.key.empty()) continue;
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ui_.text_mono(action.key);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(action.label.c_str());
        ImGui::TableNextColumn();
        ui_.text_dim(action.help);
      }
      ImGui::EndTable();
    }
    ImGui::Dummy(ImVec2(0, ui_.px(8)));
    ImGui::TextUnformatted("Commands for the palette (F1), the same words as in `hostir debug`");
    const auto help = interp::help_text("");
    if (help) ui_.text_mono(*help);
    if (escape_pressed() && ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows))
      help_open_ = false;
  }
  ui_.tag_rect("help", ImGui::GetWindowPos(), ImGui::GetWindowPos());
  ImGui::End();
}

void App::draw_open_dialog() {
  if (!open_dialog_) return;
  namespace fs = std::filesystem;
  std::error_code error;
  if (folder_.empty()) folder_ = fs::current_path(error).string();
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(screen.x / 2, screen.y / 2), ImGuiCond_Appearing,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(
      ImVec2(std::min(ui_.px(640), screen.x - 20), std::min(ui_.px(480), screen.y - 20)),
      ImGuiCond_Appearing);
  if (ImGui::Begin("Open a program or a log", &open_dialog_,
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    if (std::exchange(focus_input_, false)) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-ui_.px(70));
    bool go = ImGui::InputTextWithHint("##path", "path of a .hir file or a log", &path_text_,
                                       ImGuiInputTextFlags_EnterReturnsTrue);
    ui_.tag("open/path", path_text_);
    ImGui::SameLine();
    go = ImGui::Button("Open") || go;
    ui_.tag("open/go");
    ui_.text_dim(folder_);
    ImGui::BeginChild("files", ImVec2(0, 0), true);
    // The second click of a double click on a folder falls on whatever lies there in that folder.
    if (ImGui::IsMouseClicked(0) && !ImGui::IsMouseDoubleClicked(0)) entered_folder_ = false;
    if (ImGui::Selectable("..")) folder_ = fs::path(folder_).parent_path().string();
    std::vector<fs::directory_entry> entries;
    for (const auto& entry :
         fs::directory_iterator(folder_, fs::directory_options::skip_permission_denied, error)) {
      const std::string extension = entry.path().extension().string();
      std::error_code ignored;
      if (entry.is_directory(ignored) || extension == ".hir" || extension == ".db")
        entries.push_back(entry);
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) {
      std::error_code ignored;
      const bool folder = entry.is_directory(ignored);
      const std::string name = entry.path().filename().string();
      if (ImGui::Selectable((folder ? name + "/" : name).c_str(), false,
                            ImGuiSelectableFlags_AllowDoubleClick)) {
        if (entered_folder_) continue;
        if (folder) {
          folder_ = entry.path().string();
          entered_folder_ = true;
        } else {
          path_text_ = entry.path().string();
          go = go || ImGui::IsMouseDoubleClicked(0);
        }
      }
    }
    ImGui::EndChild();
    go = go || key_pressed("Enter");
    if (go && !path_text_.empty()) {
      drop_file(path_text_);
      open_dialog_ = false;
    }
    if (escape_pressed()) open_dialog_ = false;
  }
  ImGui::End();
}

}  // namespace hostir::gui
