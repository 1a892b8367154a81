// Which function of the open file runs, and on which mesh sizes: a button that shows it and a popup
// that changes it.
#include <fmt/core.h>
#include <imgui.h>

#include <algorithm>

#include "gui/app/app.h"

namespace hostir::gui {

namespace {

constexpr int64_t kMostPositions = Mesh::kMaxPositions;

std::string title_of(const interp::RunChoices& choices) {
  std::string text = "@" + choices.function;
  for (const auto& axis : choices.axes) text += fmt::format(" {}={}", axis.axis, axis.size);
  return text;
}

bool same(const interp::RunChoices& a, const interp::RunChoices& b) {
  return a.function == b.function &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const auto& x, const auto& y) { return x.size == y.size; });
}

}  // namespace

void App::draw_program_choice() {
  const interp::RunChoices& choices = model_.snapshot()->program->choices;
  if (choices.function.empty()) return;
  const std::string title = title_of(choices);
  ImGui::BeginDisabled(model_.running());
  ImGui::AlignTextToFramePadding();
  if (ImGui::SmallButton((title + " \u25be").c_str())) {
    wanted_ = choices;
    ImGui::OpenPopup("program");
  }
  ImGui::EndDisabled();
  ui_.tag("program", title);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
    Ui::tooltip("What runs: click to run another function of the file, or other mesh sizes");
  ImGui::SameLine(0, ui_.px(14));
  if (ImGui::BeginPopup("program")) {
    draw_program_popup(choices);
    ImGui::EndPopup();
  }
}

void App::draw_program_popup(const interp::RunChoices& choices) {
  ui_.text_dim("Function");
  for (const auto& f : wanted_.functions) {
    const std::string label = fmt::format("@{}   {}", f.name, f.fusion ? "fusion" : "host program");
    if (ImGui::RadioButton(label.c_str(), f.name == wanted_.function)) wanted_.function = f.name;
    ui_.tag("program/function/" + f.name, f.name == wanted_.function ? "on" : "off");
  }
  const bool other = wanted_.function != choices.function;  // its meshes are not known yet
  if (!wanted_.axes.empty()) ui_.text_dim("Mesh sizes");
  ImGui::BeginDisabled(other);
  for (auto& axis : wanted_.axes) {
    int size = static_cast<int>(axis.size);
    ImGui::PushID(&axis);
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(fmt::format("@{} {} =", axis.mesh, axis.axis).c_str());
    ImGui::SameLine(ui_.px(110));
    ImGui::SetNextItemWidth(ui_.px(60));
    ImGui::InputInt("##size", &size, 0);
    ui_.tag("program/axis/" + axis.axis, std::to_string(size));
    ImGui::SameLine();
    if (ImGui::SmallButton("\u2212")) --size;
    ui_.tag("program/axis/" + axis.axis + "/less");
    ImGui::SameLine();
    if (ImGui::SmallButton("+")) ++size;
    ui_.tag("program/axis/" + axis.axis + "/more");
    axis.size = std::clamp<int64_t>(size, 1, kMostPositions);
    ImGui::PopID();
  }
  ImGui::EndDisabled();
  ImGui::Dummy(ImVec2(0, ui_.px(4)));
  ImGui::BeginDisabled(same(wanted_, choices));
  if (ImGui::Button("Start from the beginning")) {
    interp::OpenRequest request = model_.last_request();
    request.function = wanted_.function;
    request.breakpoints.clear();
    if (wanted_.function == choices.function) {
      for (const interp::BreakpointSnapshot& b : *model_.snapshot()->breakpoints)
        request.breakpoints.push_back(b.text);
    }
    if (other) request.mesh_sizes.clear();  // the sizes belong to the other function's meshes
    for (size_t i = 0; !other && i < wanted_.axes.size() && i < choices.axes.size(); ++i) {
      const auto& axis = wanted_.axes[i];
      if (axis.size == choices.axes[i].size) continue;
      std::erase_if(request.mesh_sizes, [&](const auto& s) { return s.first == axis.axis; });
      request.mesh_sizes.emplace_back(axis.axis, axis.size);
    }
    model_.open(std::move(request));
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndDisabled();
  ui_.tag("program/start");
}

}  // namespace hostir::gui
