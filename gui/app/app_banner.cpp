// The strip under the toolbar that says what went wrong and what to do about it, and the page shown
// when nothing could be opened.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "gui/app/app.h"
#include "hostir/io/files.h"

namespace hostir::gui {

namespace {

// The rank to look at first: one that called something else, one that never arrived, or one in the
// cycle.
interp::Rank culprit(const Model& model) {
  const interp::Snapshot& shot = *model.snapshot();
  if (!model.mismatch_ranks().empty()) return model.mismatch_ranks().front();
  if (!shot.waits->culprits.empty()) return shot.waits->culprits.front();
  if (!shot.waits->cycle.empty()) return shot.waits->cycle.front();
  if (shot.stop.rank != interp::kNoRank) return shot.stop.rank;
  if (!shot.faults->empty() && !shot.faults->back().ranks.empty())
    return shot.faults->back().ranks.front();
  return interp::kNoRank;
}

// Where to look in the program: the instruction of the last fault or of the write at which the run
// stopped.
std::optional<interp::CodeIndex> place_of(const interp::Snapshot& shot) {
  if (shot.stop.code != interp::kNoCode) return shot.stop.code;
  if (shot.faults->empty() || shot.faults->back().instructions.empty()) return std::nullopt;
  const std::string& address = shot.faults->back().instructions.front();
  for (size_t i = 0; i < shot.program->lines.size(); ++i) {
    const auto code = static_cast<interp::CodeIndex>(i);
    if (shot.program->address(code) == address) return code;
  }
  return std::nullopt;
}

// The text as far as it fits into `lines` lines, with an ellipsis after a whole word if there is
// more.
std::string in_lines(const ImFont& font, const std::string& text, float width, int lines) {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  for (int line = 1; at < end; ++line) {
    const char* stop = font.CalcWordWrapPositionA(1, at, end, width);
    if (line < lines || stop == end) {
      at = stop;
      while (at < end && *at == ' ') ++at;
      continue;
    }
    constexpr const char* kMore = "\u2026";
    const float room = width - font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, kMore).x;
    stop = font.CalcWordWrapPositionA(1, at, end, room);
    return text.substr(0, static_cast<size_t>(stop - text.data())) + kMore;
  }
  return text;
}

std::optional<Banner> read_only_banner(const Model& model) {
  const interp::SnapshotPtr& shot = model.snapshot();
  if (!shot || shot->no_stepping.empty()) return std::nullopt;
  return Banner{StateKind::kWaiting,
                "A read-only recording: it cannot be stepped, because its program can no longer be "
                "prepared (" +
                    shot->no_stepping + "). Everything in the log is available.",
                {{"Timeline", "panel.timeline", ""},
                 {"Events", "panel.events", ""},
                 {"SQL", "panel.sql", ""}}};
}

std::optional<Banner> from_log_banner(const Model& model) {
  const interp::SnapshotPtr& shot = model.snapshot();
  if (!shot || !shot->from_log || model.running()) return std::nullopt;
  if (model.follows_log())
    return Banner{StateKind::kWaiting,
                  "This run is still being recorded. The window follows it and shows its outcome "
                  "at the end.",
                  {{"Timeline", "panel.timeline", ""}, {"Events", "panel.events", ""}}};
  return Banner{
      StateKind::kWaiting,
      fmt::format("The end of a long run, from its log. Contents are known after a replay "
                  "of {} decisions.",
                  shot->last_decision),
      {{"Run to here", "", "goto end"}, {"Events", "panel.events", ""}}};
}

}  // namespace

std::optional<Banner> App::stop_banner() const {
  const interp::SnapshotPtr& shot = model_.snapshot();
  if (!shot || model_.running()) return std::nullopt;
  const bool not_finite = !shot->stop.value.empty() && !shot->stop.element.empty();
  if (not_finite) {
    return Banner{StateKind::kMismatch,
                  shot->stop.sentence,
                  {{"Values", "panel.values", ""},
                   {"Where it came from", "panel.history", ""},
                   {"Show the instruction", "view.fault", ""},
                   {"Step back", "reverse-step", ""}}};
  }
  const bool deadlock = shot->stop.kind == interp::StopKind::kDeadlock;
  if (!deadlock && shot->stop.kind != interp::StopKind::kFault && !shot->stop.wrong)
    return std::nullopt;
  Banner banner{StateKind::kMismatch, shot->stop.sentence, {}};
  if (shot->stop.wrong && shot->faults->empty()) {
    banner.buttons = {{"Layout", "panel.layout", ""}, {"Step back", "reverse-step", ""}};
    return banner;
  }
  const interp::Rank who = culprit(model_);
  if (deadlock) banner.buttons.push_back({"Who waits for whom", "panel.waits", ""});
  if (WhatIfSearch::possible(model_)) banner.buttons.push_back({"What if\u2026", "whatif", ""});
  if (place_of(*shot)) banner.buttons.push_back({"Show the instruction", "view.fault", ""});
  const bool mismatch = model_.mismatch() != nullptr;
  banner.buttons.push_back({mismatch ? "Who called what" : "Collectives", "panel.ledger", ""});
  if (who != interp::kNoRank)
    banner.buttons.push_back({fmt::format("Go to rank {}", who), "", fmt::format("focus {}", who)});
  if (shot->no_stepping.empty()) banner.buttons.push_back({"Step back", "reverse-step", ""});
  return banner;
}

std::optional<Banner> App::file_banner() {
  if (!model_.open_error().empty() && model_.snapshot()) {
    const std::string& path = model_.last_request().path;
    return Banner{StateKind::kFailed,
                  fmt::format("{} could not be opened; {} stays open: {}", io::file_name(path),
                              io::file_name(model_.path()),
                              model_.open_error().substr(0, model_.open_error().find('\n'))),
                  {{"Show the message", "panel.messages", ""}, {"Try again", "file.reload", ""}}};
  }
  if (!model_.snapshot()) return std::nullopt;
  switch (file_watch_.look(model_.now_s())) {
    case FileWatch::State::kSame:
      return std::nullopt;
    case FileWatch::State::kDeleted:
      return Banner{StateKind::kWaiting,
                    io::file_name(model_.path()) +
                        " was deleted. The session continues from memory; the Edit panel can save "
                        "the text again.",
                    {{"Edit", "panel.editor", ""}}};
    case FileWatch::State::kChanged:
      return Banner{StateKind::kWaiting,
                    io::file_name(model_.path()) + " was changed by another program.",
                    {{"Load it again", "file.reload", ""}}};
  }
  return std::nullopt;
}

bool App::select_fault() {
  const auto place = place_of(*model_.snapshot());
  if (place) model_.selection.code = place;
  return place.has_value();
}

void App::select_written(const interp::Snapshot& shot) {
  Selection& s = model_.selection;
  s.value = shot.stop.value;
  if (!shot.stop.element.empty()) s.element = shot.stop.element;
  s.rank = shot.stop.rank;
  if (shot.stop.code != interp::kNoCode) s.code = shot.stop.code;
  // Following continues from this value at the next step.
  if (model_.followed.on) {
    model_.followed.value = s.value;
    model_.followed.generation = model_.generation();
  }
}

void App::show_fault() {
  if (select_fault()) tree().show("host_ir");
}

std::optional<Banner> App::next_banner() {
  // Unsaved text of another file must not hide this file's faults.
  const bool of_this_file = unsaved_offered() != nullptr;
  std::vector<std::optional<Banner>> all = {opening_banner(), travel_banner(), newer_file_banner()};
  if (of_this_file) all.push_back(unsaved_banner());
  all.insert(all.end(),
             {file_banner(), stop_banner(), from_log_banner(model_), read_only_banner(model_)});
  if (!of_this_file) all.push_back(unsaved_banner());
  if (model_.snapshot() && !model_.open_warning().empty())
    all.push_back(Banner{StateKind::kWaiting, model_.open_warning(), {}});
  // Forget dismissals of banners that are gone, so that they show again if they recur.
  std::erase_if(dismissed_banners_, [&](const std::string& text) {
    return std::none_of(all.begin(), all.end(),
                        [&](const auto& banner) { return banner && banner->text == text; });
  });
  for (const auto& banner : all) {
    if (banner && !dismissed_banners_.contains(banner->text)) return banner;
  }
  return std::nullopt;
}

void App::draw_banner() {
  const std::optional<Banner> banner = next_banner();
  banner_text_ = banner ? banner->text : "";
  if (!banner) return;
  const Palette& p = ui_.pal();
  const ImU32 colour = p.state(banner->state);
  const float width = ImGui::GetContentRegionAvail().x;
  const float pad = ui_.px(10);
  float buttons_width = ui_.px(34);
  for (const BannerButton& b : banner->buttons)
    buttons_width += ImGui::CalcTextSize(b.label.c_str()).x + ui_.px(22);
  const bool below = width - buttons_width < ui_.px(320);  // the window is narrow
  const float wrap = (below ? width : width - buttons_width) - 2 * pad;
  constexpr int kMostLines = 2;  // the panels and the tooltip have the rest
  const std::string whole = std::string(glyph(banner->state)) + "  " + banner->text;
  const std::string text = in_lines(*ui_.fonts.ui, whole, wrap, kMostLines);
  const float text_height = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap).y;
  const float row = ImGui::GetFrameHeight();
  const float height = std::max(row, text_height) + ui_.px(8) + (below ? row + ui_.px(4) : 0);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 end(at.x + width, at.y + height);
  list->AddRectFilled(at, end, mixed(p.panel, colour, 0.22f));
  list->AddRectFilled(at, ImVec2(at.x + ui_.px(4), end.y), colour);
  if (banner->progress > 0)
    list->AddRectFilled(ImVec2(at.x, end.y - ui_.px(3)),
                        ImVec2(at.x + width * std::min(1.0f, banner->progress), end.y), p.accent);
  const float text_y = at.y + ui_.px(4) + (below ? 0 : std::max(0.0f, (row - text_height) / 2));
  list->AddText(ui_.fonts.ui, ui_.fonts.ui->FontSize, ImVec2(at.x + pad, text_y), p.text_strong,
                text.c_str(), nullptr, wrap);
  ui_.tag_rect("banner", at, end, banner->text);
  const ImVec2 text_end(at.x + pad + wrap, text_y + text_height);
  if (text != whole && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, text_end))
    Ui::tooltip("%s", banner->text.c_str());
  ImGui::SetCursorScreenPos(ImVec2(below ? at.x + pad : end.x - buttons_width,
                                   below ? end.y - row - ui_.px(4) : at.y + ui_.px(4)));
  for (const BannerButton& b : banner->buttons) {
    if (ImGui::Button(b.label.c_str())) {
      if (!b.action.empty()) actions_.request(b.action);
      if (!b.command.empty()) actions_.command(b.command);
    }
    const std::string word = b.command.substr(0, b.command.find(' '));
    ui_.tag("banner/" + (b.action.empty() ? word : b.action), b.label);
    ImGui::SameLine();
  }
  if (ImGui::Button("\u2715")) dismissed_banners_.insert(banner->text);
  ui_.tag("banner/dismiss");
  if (ImGui::IsItemHovered()) Ui::tooltip("Hide this line");
  ImGui::SetCursorScreenPos(ImVec2(at.x, end.y));
  ImGui::Dummy(ImVec2(0, 0));
}

void App::draw_error_page() {
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float margin = std::min(ui_.px(60), space.x * 0.06f);
  ImGui::SetCursorPos(ImVec2(margin, std::min(ui_.px(50), space.y * 0.08f)));
  ImGui::BeginGroup();
  const std::string& path = model_.last_request().path;
  ImGui::PushFont(ui_.fonts.bold);
  ui_.state_word(StateKind::kFailed, "could not open " + path);
  ImGui::PopFont();
  ui_.tag("error/title", path);
  ImGui::Dummy(ImVec2(0, ui_.px(6)));
  const float buttons = ImGui::GetFrameHeightWithSpacing() * 2 + ui_.px(30);
  const float most = std::max(ui_.px(60), space.y - ImGui::GetCursorPosY() - buttons);
  const float width = space.x - 2 * margin;
  const float pad = 2 * ImGui::GetStyle().WindowPadding.x;
  // Wrap plain sentences, but not diagnostics with a caret line.
  const std::string& message = model_.open_error();
  const bool carets = message.find("\n  ") != std::string::npos;
  ImGui::PushFont(ui_.fonts.mono);
  const float text_height =
      ImGui::CalcTextSize(message.c_str(), nullptr, false, carets ? -1.0f : width - pad).y;
  ImGui::PopFont();
  const float height = std::min(most, text_height + pad + ImGui::GetStyle().ScrollbarSize);
  ImGui::BeginChild("message", ImVec2(width, height), true, ImGuiWindowFlags_HorizontalScrollbar);
  if (!carets) ImGui::PushTextWrapPos(0);
  ui_.text_mono(message);
  if (!carets) ImGui::PopTextWrapPos();
  ui_.tag("error/text", model_.open_error());
  ImGui::EndChild();
  if (ImGui::Button("Open another file...")) actions_.request("file.open");
  ui_.tag("error/open");
  ImGui::SameLine();
  if (ImGui::Button("Try again")) actions_.request("file.reload");
  ui_.tag("error/retry");
  if (!model_.open_marks().empty()) {
    ImGui::SameLine();
    if (ImGui::Button("Edit the text here")) {
      error_page_left_ = true;
      tree().show("editor");
      tree().maximise("editor");
    }
    ui_.tag("error/edit");
  }
  ImGui::EndGroup();
}

}  // namespace hostir::gui
