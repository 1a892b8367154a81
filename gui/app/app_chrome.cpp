// Menu bar and status bar.
#include <fmt/core.h>

#include <utility>

#include "gui/app/app.h"
#include "hostir/io/files.h"
#include "hostir/support/text.h"
#include "interp/session/answers/fault_names.h"

namespace hostir::gui {

namespace {

constexpr std::string_view kMenus[] = {"File", "Run", "Break", "View", "Panels", "Help"};

// `dp=2 tp=4`.
std::string mesh_text(const interp::Snapshot& shot) {
  const Mesh* mesh = shot.program->mesh();
  if (!mesh) return "no mesh";
  std::string out;
  for (const MeshAxis& axis : mesh->axes)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", axis.name, axis.size);
  return out;
}

// Separators in a long menu are drawn between groups.
int group_of(const Action& action) {
  if (action.menu != "Run") return 0;
  const std::string_view name = action.name;
  if (name.starts_with("reverse")) return 1;
  if (name.starts_with("scope") || name == "freeze" || name == "thaw") return 2;
  return name.starts_with("position") || name == "run" || name == "halt" ? 3 : 0;
}

// The status bar's text if the last command gave none.
std::string where_text(const interp::Snapshot& shot) {
  const interp::RankSnapshot& rank = shot.rank(shot.focus);
  if (rank.status == interp::RankStatus::kDone)
    return fmt::format("stopped: rank {} has returned", shot.focus);
  return fmt::format("stopped: rank {} is before {} {}", shot.focus, rank.address, rank.op);
}

}  // namespace

void App::draw_menu_bar() {
  if (!ImGui::BeginMenuBar()) return;
  for (const std::string_view menu : kMenus) {
    const bool open = ImGui::BeginMenu(std::string(menu).c_str());
    ui_.tag("menu/" + std::string(menu));
    if (!open) continue;
    for (int group = 0, drawn = 0; group < 4; ++group) {
      bool first = true;
      for (const Action& action : actions_.all()) {
        if (action.menu != menu || group_of(action) != group) continue;
        if (std::exchange(first, false) && drawn > 0) ImGui::Separator();
        ++drawn;
        const bool enabled = !action.enabled || action.enabled();
        const bool shown = action.name.starts_with("panel.") &&
                           tree().is_open(std::string_view(action.name).substr(6));
        if (ImGui::MenuItem(action.label.c_str(), action.key.c_str(), shown, enabled))
          actions_.request(action.name);
        ui_.tag("menu/" + action.name, action.label);
      }
    }
    if (menu == "File" && !settings_.recent.empty()) {
      ImGui::Separator();
      const std::vector<std::string> recent = settings_.recent;
      for (size_t i = 0; i < recent.size(); ++i) {
        if (ImGui::MenuItem(recent[i].c_str())) open_file(recent[i]);
        ui_.tag(fmt::format("recent/{}", i), recent[i]);
      }
    }
    ImGui::EndMenu();
  }
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (shot) {
    const std::string right = fmt::format(
        "{}   {} on {}   position {} of {}{}", io::file_name(model_.path()),
        counted(static_cast<size_t>(shot->rank_count()), "rank"), mesh_text(*shot),
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

void App::draw_status_bar(float height) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = ui_.pal();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(ImGui::GetWindowWidth(), height);
  list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), p.panel_title);
  std::string text;
  ImU32 colour = p.text_dim;
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (model_.opening()) {
    text = "opening " + model_.last_request().path + " ...";
  } else if (model_.running()) {
    text = "running ...   Pause stops it";
    colour = p.accent;
  } else if (const Message* notice = model_.notice()) {
    text = notice->text.substr(0, notice->text.find('\n'));
    if (notice->kind == Message::Kind::kGood) colour = p.state(StateKind::kOk);
    if (notice->kind == Message::Kind::kWarning || notice->kind == Message::Kind::kError) {
      colour = p.state(notice->kind == Message::Kind::kError ? StateKind::kMismatch
                                                             : StateKind::kWaiting);
      text = std::string(glyph(StateKind::kMismatch)) + " " + text;
    }
  } else if (shot && !model_.command_error().empty()) {
    const std::string& why = model_.command_error();
    text = std::string(glyph(StateKind::kMismatch)) + " " + why.substr(0, why.find('\n'));
    colour = p.state(StateKind::kWaiting);
  } else if (shot) {
    text = shot->stop.sentence.empty() ? where_text(*shot) : shot->stop.sentence;
    if (shot->stop.kind == interp::StopKind::kStart) {
      if (shot->last_decision > 0)
        text = fmt::format("A recorded run of {} steps of its ranks, at its start.",
                           shot->last_decision);
      text += "   F10 steps, F5 runs.";
    }
    const bool bad = shot->stop.kind == interp::StopKind::kDeadlock ||
                     shot->stop.kind == interp::StopKind::kFault;
    colour = bad ? p.state(StateKind::kMismatch) : p.text;
    if (bad && text == banner_text_ && !shot->faults->empty())  // the banner tells it
      text = "stopped: " + interp::fault_name(shot->faults->back().kind);
    if (bad) text = std::string(glyph(StateKind::kMismatch)) + " " + text;
  } else if (!model_.open_error().empty()) {
    text = "could not open " + model_.last_request().path;
    colour = p.state(StateKind::kMismatch);
  } else {
    text = "nothing is open";
  }
  std::string hidden;
  for (const std::string& what : ui_.hidden()) hidden += (hidden.empty() ? "" : ", ") + what;
  if (!hidden.empty()) hidden = "\u26a0 hidden: " + hidden + "    ";
  const std::string keys = "F1 palette   ? keys";
  const float y = at.y + (height - ImGui::GetTextLineHeight()) / 2;
  float right = at.x + size.x - ui_.px(8);
  const auto put_right = [&](const std::string& what, ImU32 c) {
    const float width = ImGui::CalcTextSize(what.c_str()).x;
    if (right - width < at.x + size.x * 0.4f) return;
    right -= width;
    ui_.draw_text(list, ImVec2(right, y), c, what, width + 2);
  };
  put_right(keys, p.text_dim);
  put_right("    ", p.text_dim);
  if (!options_.fixed_clock) {
    // Always four glyphs, so that its neighbours do not move from frame to frame.
    const std::string took = frame_ms_ < 9.995   ? fmt::format("{:.2f}", frame_ms_)
                             : frame_ms_ < 99.95 ? fmt::format("{:.1f}", frame_ms_)
                                                 : "100+";
    put_right("frame " + took + " ms    ", p.text_dim);
    ui_.tag_rect("status/frame", ImVec2(right, at.y), ImVec2(right, at.y + size.y), took);
  }
  // If the sentence needs the room, show only how many panels are hidden.
  const float room = right - at.x - ui_.px(20);
  const bool both =
      ImGui::CalcTextSize(text.c_str()).x + ImGui::CalcTextSize(hidden.c_str()).x < room;
  put_right(
      both || hidden.empty() ? hidden : fmt::format("\u26a0 {} hidden    ", ui_.hidden().size()),
      p.state(StateKind::kWaiting));
  ui_.draw_elided(list, ImVec2(at.x + ui_.px(8), y), colour, text, right - at.x - ui_.px(20));
  ui_.tag_rect("status", at, ImVec2(at.x + size.x, at.y + size.y), text);
  ui_.tag_rect("status/hidden", at, ImVec2(at.x + size.x, at.y + size.y), hidden);
  ImGui::Dummy(size);
}

}  // namespace hostir::gui
