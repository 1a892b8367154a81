// Menu bar, toolbar, status bar, start page: what stands around the panels.
#include <fmt/core.h>

#include <filesystem>

#include "gui/app.h"

namespace hostir::gui {

namespace {

constexpr std::string_view kMenus[] = {"File", "Run", "Break", "View", "Panels", "Help"};

struct ToolButton {
  std::string_view action;
  std::string_view label;
};
constexpr ToolButton kTools[] = {
    {"continue", "\u25b6 Run F5"},
    {"reverse-continue", "\u25c0 Back"},
    {"", ""},
    {"next", "Over F10"},
    {"step", "Into F11"},
    {"finish", "Out"},
    {"reverse-next", "\u21b6 Back over"},
    {"", ""},
    {"until collective", "\u21c4 Coll F6"},
    {"until rendezvous", "\u2225 Meet F7"},
    {"until nan", "NaN F8"},
    {"", ""},
    {"run", "\u21bb Restart"},
    {"halt", "\u25a0 Halt"},
};

}  // namespace

void App::draw_menu_bar() {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string_view menu : kMenus) {
    const bool open = ImGui::BeginMenu(std::string(menu).c_str());
    ui_.tag("menu/" + std::string(menu));
    if (!open) continue;
    for (const Action& action : actions_.all()) {
      if (action.menu != menu) continue;
      const bool enabled = !action.enabled || action.enabled();
      if (ImGui::MenuItem(action.label.c_str(), action.key.c_str(), false, enabled))
        actions_.request(action.name);
      ui_.tag("menu/" + action.name, action.label);
    }
    if (menu == "File" && !settings_.recent.empty()) {
      ImGui::Separator();
      for (const std::string& path : std::vector<std::string>(settings_.recent)) {
        if (ImGui::MenuItem(path.c_str())) drop_file(path);
      }
    }
    ImGui::EndMenu();
  }
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (shot) {
    const std::string right = fmt::format(
        "{}   {} ranks   decision {} of {}{}",
        std::filesystem::path(model_.path()).filename().string(), shot->rank_count(),
        shot->position.decision, shot->last_decision,
        shot->position.branch ? fmt::format("   branch {}", shot->position.branch) : "");
    const float width = ImGui::CalcTextSize(right.c_str()).x;
    const float x = ImGui::GetWindowWidth() - width - ui_.px(14);
    if (x > ImGui::GetCursorPosX()) {
      ImGui::SetCursorPosX(x);
      ui_.text_dim(right);
      ui_.tag("title/position", right);
    }
  }
  ImGui::EndMenuBar();
}

void App::draw_toolbar() {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui_.px(5), ui_.px(3)));
  ImGui::Dummy(ImVec2(ui_.px(1), ui_.px(1)));
  ImGui::SetCursorPosX(ui_.px(6));
  const float limit = ImGui::GetWindowWidth() - ui_.px(10);
  for (const ToolButton& tool : kTools) {
    if (tool.action.empty()) {
      ui_.text_dim("|");
      ImGui::SameLine();
      continue;
    }
    const Action* action = actions_.find(tool.action);
    if (!action) continue;
    const float width = ImGui::CalcTextSize(tool.label.data()).x + ui_.px(20);
    if (ImGui::GetCursorPosX() + width > limit) continue;  // a narrow window: the menu has them all
    const bool enabled = !action->enabled || action->enabled();
    ImGui::BeginDisabled(!enabled);
    if (ImGui::Button(std::string(tool.label).c_str())) actions_.request(action->name);
    ImGui::EndDisabled();
    ui_.tag("toolbar/" + action->name, tool.label);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
      ImGui::SetTooltip("%s (%s)\n%s", action->label.c_str(), action->key.c_str(),
                        action->help.c_str());
    }
    ImGui::SameLine();
  }
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (shot) {
    ui_.text_dim("| Focus");
    ImGui::SameLine();
    const int shown = std::min(shot->rank_count(), 16);
    for (int r = 0; r < shown; ++r) {
      if (ImGui::GetCursorPosX() + ui_.px(34) > limit) break;
      const bool in_scope =
          shot->step_scope.empty() ||
          std::find(shot->step_scope.begin(), shot->step_scope.end(), r) != shot->step_scope.end();
      if (ui_.rank_chip(r, r == shot->focus, fmt::format("focus/{}", r)))
        actions_.command(fmt::format("rank {}", r));
      if (ImGui::IsItemHovered()) {
        ImGui::SetTooltip("rank %d%s%s\nclick: steps move this rank (Alt+%d)", r,
                          in_scope ? ", in the step's scope" : "",
                          shot->rank(r).frozen ? ", frozen" : "", r + 1);
      }
      ImGui::SameLine();
    }
    if (shown < shot->rank_count())
      ui_.text_dim(fmt::format("+{} more in Ranks", shot->rank_count() - shown));
  }
  ImGui::NewLine();
  ImGui::PopStyleVar();
}

void App::draw_status_bar(float height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetWindowWidth(), height);
  list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), ui_.pal().panel_title);
  std::string text;
  ImU32 colour = ui_.pal().text_dim;
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (model_.opening()) {
    text = "opening " + model_.last_request().path + " ...";
  } else if (model_.running()) {
    text = "running ...   Pause halts";
    colour = ui_.pal().accent;
  } else if (shot) {
    text = shot->stop.sentence.empty() ? "stopped" : shot->stop.sentence;
    const bool bad = shot->stop.kind == interp::StopKind::kDeadlock ||
                     shot->stop.kind == interp::StopKind::kFault;
    colour = bad ? ui_.pal().state(StateKind::kMismatch) : ui_.pal().text;
    if (bad) text = std::string(glyph(StateKind::kMismatch)) + " " + text;
  } else if (!model_.open_error().empty()) {
    text = "could not open " + model_.last_request().path + ": see Messages";
    colour = ui_.pal().state(StateKind::kMismatch);
  }
  const std::string keys = "F1 palette   ? keys";
  const float keys_width = ImGui::CalcTextSize(keys.c_str()).x;
  const float y = at.y + (height - ImGui::GetTextLineHeight()) / 2;
  ui_.draw_text(list, ImVec2(at.x + ui_.px(8), y), colour, text, size.x - keys_width - ui_.px(30));
  ui_.draw_text(list, ImVec2(at.x + size.x - keys_width - ui_.px(8), y), ui_.pal().text_dim, keys,
                keys_width + 2);
  ui_.tag_rect("status", at, ImVec2(at.x + size.x, at.y + size.y), text);
  ImGui::Dummy(size);
}

void App::draw_start_page() {
  const ImVec2 space = ImGui::GetContentRegionAvail();
  ImGui::SetCursorPos(ImVec2(std::max(ui_.px(20), space.x * 0.5f - ui_.px(230)), space.y * 0.22f));
  ImGui::BeginGroup();
  ImGui::PushFont(ui_.fonts.bold);
  ImGui::TextUnformatted("Host-IR Workbench");
  ImGui::PopFont();
  ui_.text_dim(
      "Step through multi-GPU tensor programs, forwards and backwards, and see why each rank is "
      "where it is.");
  ImGui::Dummy(ImVec2(0, ui_.px(14)));
  if (ImGui::Button("Open a program or a log...   Ctrl+O")) actions_.request("file.open");
  ui_.tag("start/open");
  ui_.text_dim("or drop a .hir file or a log on this window");
  const std::filesystem::path examples = "tests/programs";
  std::error_code error;
  if (std::filesystem::is_directory(examples, error)) {
    ImGui::Dummy(ImVec2(0, ui_.px(10)));
    ImGui::TextUnformatted("Examples");
    for (const char* name :
         {"tp_mlp.hir", "sp_toy.hir", "matmul_rowcol.hir", "deadlock.hir", "mismatch.hir"}) {
      if (!std::filesystem::exists(examples / name, error)) continue;
      if (ImGui::Selectable(name, false, 0, ImVec2(ui_.px(300), 0)))
        drop_file((examples / name).string());
      ui_.tag(std::string("start/") + name);
    }
  }
  if (!settings_.recent.empty()) {
    ImGui::Dummy(ImVec2(0, ui_.px(10)));
    ImGui::TextUnformatted("Recent");
    for (const std::string& path : std::vector<std::string>(settings_.recent)) {
      if (ImGui::Selectable(path.c_str(), false, 0, ImVec2(ui_.px(460), 0))) drop_file(path);
    }
  }
  ImGui::EndGroup();
}

}  // namespace hostir::gui
