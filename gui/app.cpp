#include "gui/app.h"

#include <algorithm>
#include <filesystem>

namespace hostir::gui {

App::App(interp::SessionFactory& factory, AppOptions options, std::function<void()> wake)
    : options_(std::move(options)),
      settings_(load_settings(options_.settings_file)),
      model_(factory, std::move(wake)),
      panels_(make_panels()) {
  set_layout(settings_.layout.empty() ? builtin_layouts().front().text
                                      : std::string_view(settings_.layout));
  for (const std::string& line : settings_.panel_state) {
    const size_t colon = line.find(": ");
    for (const auto& panel : panels_) {
      if (colon != std::string::npos && line.substr(0, colon) == panel->id())
        panel->restore(line.substr(colon + 2));
    }
  }
  add_actions();
  ui_.colours = &palette(settings_.theme);
  if (!options_.open.path.empty()) model_.open(options_.open);
}

App::~App() { save(); }

void App::save() {
  if (options_.settings_file.empty()) return;
  settings_.layout = tree_.to_string();
  settings_.panel_state.clear();
  for (const auto& panel : panels_) {
    const std::string state = panel->save();
    if (!state.empty()) settings_.panel_state.push_back(std::string(panel->id()) + ": " + state);
  }
  save_settings(options_.settings_file, settings_);
}

void App::set_layout(std::string_view text) {
  auto parsed = PanelTree::parse(text);
  if (!parsed) {
    model_.add_message(Message::Kind::kWarning,
                       "the saved layout could not be read; the default one is used");
    parsed = PanelTree::parse(builtin_layouts().front().text);
  }
  tree_ = std::move(*parsed);
}

void App::rebuild_style() {
  ui_.scale = settings_.scale * options_.screen_scale;
  ui_.colours = &palette(settings_.theme);
  ui_.fonts = load_fonts(ui_.scale);
  apply_theme(*ui_.colours, ui_.scale);
  style_dirty_ = false;
}

bool App::wants_frame() const {
  auto& worker = const_cast<App*>(this)->model_.worker();
  return worker.busy();
}

std::string App::window_title() const {
  if (model_.path().empty()) return "Host-IR Workbench";
  return std::filesystem::path(model_.path()).filename().string() + " - Host-IR Workbench";
}

void App::drop_file(const std::string& path) {
  interp::OpenRequest request;
  request.path = path;
  model_.open(std::move(request));
  settings_.add_recent(std::filesystem::absolute(path).string());
}

bool App::perform(const std::string& text) {
  if (actions_.find(text)) return actions_.request(text);
  if (!interp::parse_command(text)) return false;
  actions_.command(text);
  return true;
}

void App::handle_keys() {
  if (const Action* action = actions_.pressed()) actions_.request(action->name);
}

void App::frame(double now_s) {
  ui_.begin_frame();
  model_.update(now_s);
  handle_keys();
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ui_.pal().background);
  ImGui::Begin("workbench", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_MenuBar);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  draw_menu_bar();
  draw_toolbar();
  const float status_height = ui_.px(24);
  const float height = std::max(1.0f, ImGui::GetContentRegionAvail().y - status_height);
  ImGui::BeginChild("panels", ImVec2(0, height), false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  if (!model_.snapshot() && !model_.opening() && model_.open_error().empty()) {
    draw_start_page();
  } else {
    Frame frame{ui_, model_, actions_};
    tree_.draw(frame, panels_);
  }
  ImGui::EndChild();
  draw_status_bar(status_height);
  ImGui::End();
  draw_palette();
  draw_help();
  draw_open_dialog();
  actions_.flush([this](const std::string& command) { model_.run_command(command); });
}

}  // namespace hostir::gui
