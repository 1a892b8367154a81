// The page shown while a file is being opened: progress, and how to cancel.
#include <fmt/core.h>

#include "gui/app/app.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

constexpr double kShownAfterSeconds = 0.25;  // fast openings do not flash a page

std::string doing(const Opening& opening) {
  if (opening.cancelled)
    return fmt::format("cancelled; ends as soon as this is done: {}", opening.part);
  return fmt::format("{} ...   {:.1f} s", opening.part.empty() ? "reading" : opening.part,
                     opening.seconds);
}

}  // namespace

std::optional<Banner> App::opening_banner() {
  const std::optional<Opening> opening = model_.worker().opening();
  if (!opening || !model_.snapshot() || opening->seconds < kShownAfterSeconds) return std::nullopt;
  Banner banner{StateKind::kWaiting, "", {}};
  banner.text = fmt::format("Opening {}: {}", io::file_name(opening->path), doing(*opening));
  if (!opening->cancelled) banner.buttons.push_back({"Cancel   Esc", "file.cancel_opening", ""});
  return banner;
}

std::optional<Banner> App::travel_banner() {
  const std::optional<GotoProgress> progress = model_.worker().goto_progress();
  if (!progress) return std::nullopt;
  Banner banner{StateKind::kWaiting,
                fmt::format("Going to position {}: {} of {} have run", progress->to,
                            progress->at - progress->from, progress->to - progress->from),
                {{"Cancel   Esc", "file.cancel_opening", ""}}};
  banner.progress = static_cast<float>(static_cast<double>(progress->at - progress->from) /
                                       static_cast<double>(progress->to - progress->from));
  return banner;
}

void App::draw_opening_page() {
  const std::optional<Opening> opening = model_.worker().opening();
  const std::string path = opening ? opening->path : model_.last_request().path;
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float width = std::min(ui_.px(620), space.x - ui_.px(40));
  ImGui::SetCursorPos(ImVec2(std::max(ui_.px(20), (space.x - width) / 2), space.y * 0.3f));
  ImGui::BeginGroup();
  ImGui::PushFont(ui_.fonts.bold);
  ImGui::TextUnformatted(("Opening " + path).c_str());
  ImGui::PopFont();
  ui_.tag("opening/path", path);
  const std::string text =
      opening ? doing(*opening) : std::string("waiting for the running command to end");
  ui_.text_dim(text);
  ui_.tag("opening/part", text);
  ImGui::Dummy(ImVec2(0, ui_.px(8)));
  ImGui::BeginDisabled(opening && opening->cancelled);
  if (ImGui::Button("Cancel   Esc")) actions_.request("file.cancel_opening");
  ui_.tag("opening/cancel");
  ImGui::EndDisabled();
  ImGui::EndGroup();
}

}  // namespace hostir::gui
