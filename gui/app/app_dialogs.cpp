// Key help and the file dialog.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "gui/app/app.h"
#include "interp/session/commands/command_table.h"

namespace hostir::gui {

namespace {

// The next window appears in the middle of the screen, at most as large as it.
void place_dialog(const Ui& ui, float width, float height) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(screen.x / 2, screen.y / 2), ImGuiCond_Appearing,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowSize(
      ImVec2(std::min(ui.px(width), screen.x - 20), std::min(ui.px(height), screen.y - 20)),
      ImGuiCond_Appearing);
}

bool escape_pressed() { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)); }

}  // namespace

// Grouped as in the menus; nine similar keys share one row.
void App::draw_keys() {
  constexpr std::string_view kGroups[] = {"Run", "Break", "View", "Panels", "File", "Help", ""};
  const auto contains = [](std::string_view text, std::string_view wanted) {
    return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) ==
                    std::tolower(static_cast<unsigned char>(b));
           }) != text.end();
  };
  if (!ImGui::BeginTable("keys", 3, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, ui_.px(150));
  ImGui::TableSetupColumn("does", ImGuiTableColumnFlags_WidthStretch, 0.8f);
  ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch, 1.2f);
  const auto row = [&](const std::string& key, const std::string& label, const std::string& help) {
    if (!contains(key + " " + label + " " + help, help_filter_)) return;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ui_.text_mono(key);
    ImGui::TableNextColumn();
    ImGui::TextWrapped("%s", label.c_str());
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(0);
    ui_.text_dim(help);
    ImGui::PopTextWrapPos();
  };
  const auto title = [&](const char* text) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushFont(ui_.fonts.bold);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
  };
  for (const std::string_view group : kGroups) {
    title(group.empty() ? "Ranks and more" : std::string(group).c_str());
    if (group.empty())
      row("Alt+1 .. Alt+9", "Focus rank 0 .. 8", "Panels show this rank; steps go on as before.");
    for (const Action& action : actions_.all()) {
      if (action.menu != group || action.key.empty()) continue;
      const bool numbered = action.name.starts_with("focus.") && action.name.size() == 7 &&
                            std::isdigit(static_cast<unsigned char>(action.name.back()));
      if (!numbered) row(action.key, action.label, action.help);
    }
  }
  for (const auto& panel : panels_) {
    if (panel->keys().empty()) continue;
    title((std::string(panel->title()) + ", pointer over it").c_str());
    for (const PanelKey& key : panel->keys()) {
      row(std::string(key.key), std::string(key.label), std::string(key.help));
      ui_.tag(fmt::format("help/key/{}/{}", panel->id(), key.key), std::string(key.label));
    }
  }
  title("Mouse");
  row("click", "Select everywhere",
      "Ranks, tensors, lines, events, collectives: all panels show it.");
  row("click left of a line", "Breakpoint", "A second click deletes it.");
  row("right click on a line", "Run to here, run back to here, break here", "");
  row("wheel, Shift+wheel", "Timeline: zoom around the pointer, scroll lanes", "");
  row("drag, Ctrl+drag", "Timeline: pan, measure a range", "");
  row("drag a tab", "Move a panel", "Onto other tabs, or to an edge of another panel.");
  row("drop a file", "Open it", "A program (.hir) or a log.");
  ImGui::EndTable();
}

void App::draw_help() {
  if (!help_open_) return;
  place_dialog(ui_, 760, 620);
  if (ImGui::Begin("Keys and commands", &help_open_,
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    ImGui::SetNextItemWidth(-1);
    ImGui::InputTextWithHint("##help", "find a key or what it does", &help_filter_);
    ui_.tag("help/filter", help_filter_);
    draw_keys();
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

void App::begin_file_dialog(FileDialog what) {
  file_dialog_ = what;
  focus_input_ = true;
  if (what == FileDialog::kSaveAs) path_text_ = model_.document().path();
  if (what == FileDialog::kExport) path_text_ = export_->name;
}

void App::choose_file(const std::string& path) {
  switch (std::exchange(file_dialog_, FileDialog::kNone)) {
    case FileDialog::kNone:
      return;
    case FileDialog::kOpen:
      return open_file(path);
    case FileDialog::kCompare:
      return compare_with(path);
    case FileDialog::kSaveAs:
      return save_as(path);
    case FileDialog::kExport:
      return export_to(path);
  }
}

bool App::lists(const std::string& extension) const {
  switch (file_dialog_) {
    case FileDialog::kNone:
      return false;
    case FileDialog::kOpen:
      return extension == ".hir" || extension == ".db";
    case FileDialog::kCompare:
      return extension == ".db";
    case FileDialog::kSaveAs:
      return extension == ".hir";
    case FileDialog::kExport:
      return export_ && extension == std::filesystem::path(export_->name).extension();
  }
  return false;
}

bool App::draw_files() {
  namespace fs = std::filesystem;
  bool go = false;
  std::error_code error;
  // After a double click on a folder, the second click hits an entry of the opened folder: ignore
  // it.
  if (ImGui::IsMouseClicked(0) && !ImGui::IsMouseDoubleClicked(0)) entered_folder_ = false;
  if (ImGui::Selectable("..")) folder_ = fs::path(folder_).parent_path().string();
  std::vector<fs::directory_entry> entries;
  for (const auto& entry :
       fs::directory_iterator(folder_, fs::directory_options::skip_permission_denied, error)) {
    if (entry.path().filename().string().starts_with('.')) continue;  // hidden
    std::error_code ignored;
    if (entry.is_directory(ignored) || lists(entry.path().extension().string()))
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
    ui_.tag("open/file/" + name);
  }
  return go;
}

void App::draw_file_dialog() {
  if (file_dialog_ == FileDialog::kNone) return;
  struct Words {
    const char* title;
    const char* hint;
    const char* button;
  };
  static constexpr Words kWords[] = {
      {"", "", ""},
      {"Open a program or a log", "path of a .hir file or a log", "Open"},
      {"Open a log to compare with", "path of a log", "Open"},
      {"Save the text of the Edit panel as", "path of a .hir file", "Save"},
      {"Export", "path of the file to write", "Write"}};
  const Words& words = kWords[static_cast<size_t>(file_dialog_)];
  if (folder_.empty()) {
    std::error_code error;
    folder_ = std::filesystem::current_path(error).string();
  }
  place_dialog(ui_, 640, 480);
  bool open = true;
  bool go = false;
  if (ImGui::Begin(words.title, &open,
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    if (std::exchange(focus_input_, false)) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-ui_.px(70));
    go = ImGui::InputTextWithHint(
        "##path", words.hint, &path_text_,
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    ui_.tag("open/path", path_text_);
    ImGui::SameLine();
    go = ImGui::Button(words.button) || go;
    ui_.tag("open/go");
    ui_.text_dim(folder_);
    ImGui::BeginChild("files", ImVec2(0, 0), true);
    go = draw_files() || go;
    ImGui::EndChild();
    go = go || key_pressed("Enter");
    if (escape_pressed()) open = false;
  }
  ImGui::End();
  if (!open) file_dialog_ = FileDialog::kNone;
  // A relative name refers to the folder shown.
  if (go && open && !path_text_.empty())
    choose_file((std::filesystem::path(folder_) / path_text_).string());
}

}  // namespace hostir::gui
