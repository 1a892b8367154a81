// The toolbar: stepping, focus and scope, and the position in the history.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/app/app.h"
#include "hostir/support/lists.h"

namespace hostir::gui {

namespace {

struct ToolButton {
  std::string_view action;
  std::string_view label;
};
constexpr ToolButton kTools[] = {
    {"continue", "\u25b6 Run F5"},
    {"reverse-continue", "\u25c0 Back"},
    {"", ""},
    {"next", "\u21b7 Over F10"},
    {"step", "\u2193 Into F11"},
    {"finish", "\u2191 Out"},
    {"reverse-next", "\u21b6 Back over"},
    {"", ""},
    {"until collective", "\u21c4 Collective F6"},
    {"until rendezvous", "\u2297 Rendezvous F7"},
    {"until nan", "\u26a0 NaN F8"},
    {"", ""},
    {"run", "\u21bb Restart"},
    {"halt", "\u25a0 Halt"},
};

enum class Scope : uint8_t { kFocus, kGroup, kAll };

Scope scope_of(const interp::Snapshot& shot) {
  if (shot.step_scope.empty() || shot.step_scope.size() == static_cast<size_t>(shot.rank_count()))
    return Scope::kAll;
  return shot.step_scope.size() == 1 ? Scope::kFocus : Scope::kGroup;
}

// The innermost axis along which all ranks of the scope form one group; empty if there is none.
std::string group_axis(const interp::Snapshot& shot) {
  const Mesh* mesh = shot.program->mesh();
  if (!mesh || shot.step_scope.size() < 2) return {};
  int64_t stride = 1;  // in ranks along the axis; the last axis varies fastest
  for (size_t a = mesh->axes.size(); a-- > 0;) {
    const bool apart = shot.step_scope[1] - shot.step_scope[0] == stride;
    if (apart && static_cast<size_t>(mesh->axes[a].size) == shot.step_scope.size())
      return mesh->axes[a].name;
    stride *= mesh->axes[a].size;
  }
  return {};
}

// The mesh axes to which steps can be restricted. With a single axis, its only group is all ranks.
std::vector<std::string> scope_axes(const interp::Snapshot& shot) {
  std::vector<std::string> out;
  const Mesh* mesh = shot.program->mesh();
  if (!mesh || mesh->axes.size() < 2 || mesh->axes.size() > 4) return out;
  for (const MeshAxis& a : mesh->axes) out.push_back(a.name);
  return out;
}

}  // namespace

void App::draw_toolbar() {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(ui_.px(4), ui_.px(4)));
  ImGui::Dummy(ImVec2(ui_.px(1), ui_.px(1)));
  ImGui::SetCursorPosX(ui_.px(6));
  const float limit = ImGui::GetWindowWidth() - ui_.px(10);
  draw_tools(limit);
  if (model_.snapshot()) {
    ImGui::SetCursorPosX(ui_.px(8));
    const float position_width = std::min(ui_.px(430), limit * 0.45f);
    draw_focus(limit - position_width - ui_.px(20));
    ImGui::SameLine(limit - position_width);
    draw_position(position_width);
  }
  ImGui::PopStyleVar();
}

void App::draw_tools(float limit) {
  std::vector<const Action*> rest;  // items that do not fit a narrow window; shown in a menu
  const float more = ui_.px(34);
  for (const ToolButton& tool : kTools) {
    if (tool.action.empty()) {
      ImGui::Dummy(ImVec2(ui_.px(5), 1));
      ImGui::SameLine();
      continue;
    }
    const Action* action = actions_.find(tool.action);
    if (!action) continue;
    const float width = ImGui::CalcTextSize(tool.label.data()).x + ui_.px(20);
    if (!rest.empty() || ImGui::GetCursorPosX() + width + more > limit) {
      rest.push_back(action);
      continue;
    }
    ImGui::BeginDisabled(action->enabled && !action->enabled());
    if (ImGui::Button(std::string(tool.label).c_str())) actions_.request(action->name);
    ImGui::EndDisabled();
    ui_.tag("toolbar/" + action->name, tool.label);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
      Ui::tooltip("%s (%s)\n%s", action->label.c_str(), action->key.c_str(), action->help.c_str());
    }
    ImGui::SameLine();
  }
  if (!rest.empty()) {
    if (ImGui::Button("\u2026")) ImGui::OpenPopup("more tools");
    ui_.tag("toolbar/more", fmt::format("{}", rest.size()));
    ImGui::SameLine();
  }
  if (ImGui::BeginPopup("more tools")) {
    for (const Action* action : rest) {
      const bool enabled = !action->enabled || action->enabled();
      if (ImGui::MenuItem(action->label.c_str(), action->key.c_str(), false, enabled))
        actions_.request(action->name);
      ui_.tag("toolbar/" + action->name, action->label);
    }
    ImGui::EndPopup();
  }
  ImGui::NewLine();
}

void App::draw_focus(float limit) {
  const interp::Snapshot& shot = *model_.snapshot();
  // In a narrow window the program choice is dropped first, then the scope, which the Run menu also
  // has. There is always room for one or two rank chips.
  const float left = limit - scope_width() - ui_.px(150);
  if (left > ui_.px(170)) draw_program_choice();
  if (left > 0) draw_scope();
  ImGui::AlignTextToFramePadding();
  ui_.text_dim("  Focus");
  ImGui::SameLine();
  int r = 0;
  for (; r < shot.rank_count() && r < 64; ++r) {
    if (ImGui::GetCursorPosX() + ui_.px(r < 10 ? 110 : 120) > limit && r + 1 < shot.rank_count())
      break;
    const bool in_scope = shot.step_scope.empty() || contains(shot.step_scope, r);
    if (ui_.rank_chip(r, r == shot.focus, fmt::format("focus/{}", r)))
      actions_.command(fmt::format("focus {}", r));
    const WidgetRect* chip = ui_.find(fmt::format("focus/{}", r));
    ImDrawList* list = ImGui::GetWindowDrawList();
    if (shot.rank(r).frozen) {
      list->AddRect(chip->min, chip->max, ui_.pal().state(StateKind::kFrozen), 3, 0, 2);
    } else if (in_scope) {
      list->AddLine(ImVec2(chip->min.x, chip->max.y + 2), ImVec2(chip->max.x, chip->max.y + 2),
                    ui_.pal().rank(r), 2);
    }
    if (ImGui::IsItemHovered()) {
      model_.hovered.rank = r;
      Ui::tooltip("rank %d: %s%s%s\nclick: focus this rank%s", r,
                  std::string(interp::name(shot.rank(r).status)).c_str(),
                  in_scope ? ", moved by steps" : "", shot.rank(r).frozen ? ", frozen" : "",
                  r < 9 ? fmt::format(" (Alt+{})", r + 1).c_str() : "");
    }
    ImGui::SameLine();
  }
  if (r < shot.rank_count()) {
    const std::string more = fmt::format("+{} more", shot.rank_count() - r);
    if (ImGui::SmallButton(more.c_str())) actions_.request("panel.ranks");
    ui_.tag("focus/more", more);
    if (ImGui::IsItemHovered()) Ui::tooltip("All ranks are in the Ranks panel");
    ImGui::SameLine();
  }
  ImGui::NewLine();
}

float App::scope_width() const {
  std::vector<std::string> labels = scope_axes(*model_.snapshot());
  labels.insert(labels.end(), {"all", "focus"});
  const ImGuiStyle& style = ImGui::GetStyle();
  float width = ImGui::CalcTextSize("Steps move").x + style.ItemSpacing.x;
  for (const std::string& label : labels)
    width += ImGui::CalcTextSize(label.c_str()).x + 2 * style.FramePadding.x + style.ItemSpacing.x;
  return width;
}

void App::draw_scope() {
  const interp::Snapshot& shot = *model_.snapshot();
  const Scope now = scope_of(shot);
  const auto choice = [&](const std::string& label, bool on, const std::string& command,
                          const char* help) {
    ImGui::PushStyleColor(ImGuiCol_Button, on ? ui_.pal().selection : ui_.pal().panel_title);
    ImGui::BeginDisabled(model_.running());
    if (ImGui::SmallButton(label.c_str())) actions_.command(command);
    ImGui::EndDisabled();
    ImGui::PopStyleColor();
    ui_.tag("scope/" + label, on ? "on" : "off");
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) Ui::tooltip("%s", help);
    ImGui::SameLine();
  };
  ImGui::AlignTextToFramePadding();
  ui_.text_dim("Steps move");
  ImGui::SameLine();
  choice("all", now == Scope::kAll, "rank all", "Every rank moves with a step (Alt+A)");
  const std::string now_axis = now == Scope::kGroup ? group_axis(shot) : "";
  for (const std::string& axis : scope_axes(shot)) {
    choice(axis, axis == now_axis, "rank group " + axis,
           "The focus rank's group along this mesh axis moves with a step");
  }
  choice("focus", now == Scope::kFocus, fmt::format("rank {}", shot.focus),
         "Only the focus rank moves with a step; others only where it needs them");
}

// Draws the fraction of the history that has passed, with a knob. Returns the position it is
// dragged to.
std::optional<uint64_t> App::draw_scrubber(float width, uint64_t at, uint64_t last) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight() - ui_.px(4);
  const float knob = ui_.px(5);
  ImGui::InvisibleButton("##position", ImVec2(width, height));
  const float left = corner.x + knob;
  const float track = width - 2 * knob;
  const double share = last == 0 ? 0 : static_cast<double>(at) / static_cast<double>(last);
  const float x = left + track * static_cast<float>(share);
  const float middle = corner.y + height / 2;
  const float thin = ui_.px(2.5f);
  const Palette& p = ui_.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(ImVec2(left, middle - thin), ImVec2(left + track, middle + thin),
                      p.panel_title, thin);
  if (last > 0) {
    list->AddRectFilled(ImVec2(left, middle - thin), ImVec2(x, middle + thin),
                        with_alpha(p.accent, 0.6f), thin);
    list->AddRectFilled(
        ImVec2(x - knob, corner.y + ui_.px(2)), ImVec2(x + knob, corner.y + height - ui_.px(2)),
        ImGui::IsItemHovered() || ImGui::IsItemActive() ? p.text_strong : p.accent, ui_.px(2));
  }
  if (!ImGui::IsItemActive() || last == 0) return std::nullopt;
  const double wanted =
      std::clamp(static_cast<double>((ImGui::GetIO().MousePos.x - left) / track), 0.0, 1.0);
  return static_cast<uint64_t>(std::llround(wanted * static_cast<double>(last)));
}

void App::draw_position(float width) {
  const interp::Snapshot& shot = *model_.snapshot();
  const uint64_t last = shot.last_decision;
  uint64_t at = scrub_target_.value_or(shot.position.decision);
  const auto jump = [&](const char* label, const char* name, uint64_t to, const char* help) {
    ImGui::BeginDisabled(to == at || model_.running());
    if (ImGui::SmallButton(label)) scrub_target_ = to;
    ImGui::EndDisabled();
    ui_.tag(name);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) Ui::tooltip("%s", help);
    ImGui::SameLine();
  };
  const std::string text = fmt::format("{} / {}", shot.position.decision, last);
  const float text_width = std::max(ui_.px(70), ImGui::CalcTextSize(text.c_str()).x + ui_.px(6));
  jump("|\u25c0", "position/start", 0, "To the start of the history");
  jump("\u25c0", "position/back", at > 0 ? at - 1 : 0, "One step back (Ctrl+Left)");
  const float slider = width - text_width - ui_.px(132);
  if (slider > ui_.px(30)) {
    ImGui::BeginDisabled(last == 0);
    if (const auto dragged = draw_scrubber(slider, at, last)) scrub_target_ = at = *dragged;
    ImGui::EndDisabled();
    ui_.tag("position/slider", text);
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
      Ui::tooltip(
          "The history of the run, one position per step of a rank: drag to go back and forth\n"
          "(Ctrl+G: type a position)");
    }
    ImGui::SameLine();
  }
  jump("\u25b6", "position/forward", std::min(at + 1, last), "One step forward (Ctrl+Right)");
  jump("\u25b6|", "position/end", last, "To the end of what has run");
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(text.c_str());
  ui_.tag("position/text", text);
  // While dragging, request only the newest position, and only when the engine is idle.
  if (scrub_target_ && !model_.worker().busy()) {
    const uint64_t target = *std::exchange(scrub_target_, std::nullopt);
    if (target != shot.position.decision) actions_.command(fmt::format("goto {}", target));
  }
}

}  // namespace hostir::gui
