// Command palette, key help, the file dialog.
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

// True if the letters of `wanted` occur in `text` in this order, ignoring case.
bool fuzzy_match(std::string_view text, std::string_view wanted) {
  size_t at = 0;
  for (const char c : wanted) {
    if (c == ' ') continue;
    const auto lower = [](char x) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(x)));
    };
    while (at < text.size() && lower(text[at]) != lower(c)) ++at;
    if (at == text.size()) return false;
    ++at;
  }
  return true;
}

bool escape_pressed() { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)); }

}  // namespace

void App::draw_palette() {
  if (!palette_open_) return;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui_.px(620), screen.x - ui_.px(20));
  ImGui::SetNextWindowPos(ImVec2((screen.x - width) / 2, ui_.px(60)));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  ImGui::Begin("palette", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_AlwaysAutoResize);
  if (std::exchange(focus_input_, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool enter =
      ImGui::InputTextWithHint("##palette", "an action, or a command: break %y if rank == 3",
                               &palette_text_, ImGuiInputTextFlags_EnterReturnsTrue);
  ui_.tag("palette/input", palette_text_);
  std::vector<const Action*> found;
  for (const Action& action : actions_.all()) {
    if (fuzzy_match(action.label + " " + action.name, palette_text_)) found.push_back(&action);
  }
  constexpr int kRows = 14;
  const int rows = std::min(static_cast<int>(found.size()), kRows);
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_DownArrow))) ++palette_row_;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_UpArrow))) --palette_row_;
  palette_row_ = std::clamp(palette_row_, 0, std::max(0, rows - 1));
  const Action* chosen = nullptr;
  for (int i = 0; i < rows; ++i) {
    const Action& action = *found[static_cast<size_t>(i)];
    ImGui::PushID(i);
    if (ImGui::Selectable("##row", i == palette_row_)) chosen = &action;
    ui_.tag("palette/" + action.name);
    ImGui::SameLine(ui_.px(8));
    ImGui::TextUnformatted(action.label.c_str());
    ImGui::SameLine(ui_.px(250));
    ui_.text_dim(action.key);
    ImGui::SameLine(ui_.px(350));
    ui_.text_dim(action.help);
    ImGui::PopID();
  }
  const bool is_command = found.empty() && interp::parse_command(palette_text_).has_value();
  if (is_command) ui_.text_dim("Enter runs this command");
  if (found.empty() && !is_command && !palette_text_.empty())
    ui_.text_dim("nothing has this name, and it is no command");
  if (enter && rows > 0) chosen = found[static_cast<size_t>(palette_row_)];
  if (chosen) actions_.request(chosen->name);
  if (enter && rows == 0 && is_command) actions_.command(palette_text_);
  if (chosen || enter || escape_pressed() ||
      (ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered())) {
    palette_open_ = false;
  }
  ImGui::End();
}

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
        if (folder) {
          folder_ = entry.path().string();
        } else {
          path_text_ = entry.path().string();
          go = go || ImGui::IsMouseDoubleClicked(0);
        }
      }
    }
    ImGui::EndChild();
    if (go && !path_text_.empty()) {
      drop_file(path_text_);
      open_dialog_ = false;
    }
    if (escape_pressed()) open_dialog_ = false;
  }
  ImGui::End();
}

}  // namespace hostir::gui
