#include "gui/panels/timeline/timeline_find.h"

#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <memory>
#include <optional>

#include "gui/panels/log/event_scan.h"

namespace hostir::gui {

std::string TimelineFind::status() const {
  if (found_.empty()) return fmt::format("no instruction matches \"{}\"", text_);
  if (found_.size() == 1) return "1 instruction matches and is highlighted";
  return fmt::format("{} instructions match and are highlighted", found_.size());
}

bool TimelineFind::draw(Frame& frame, const TimelineNames& names) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float field = frame.ui.px(190);
  Ui::flow(field + style.ItemSpacing.x + ImGui::CalcTextSize("Next").x + 2 * style.FramePadding.x);
  ImGui::SetNextItemWidth(field);
  const bool enter = ImGui::InputTextWithHint("##find", "find: all_reduce, a kernel", &text_,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  frame.ui.tag("timeline/find", text_);
  ImGui::SameLine();
  const bool button = ImGui::SmallButton("Next");
  frame.ui.tag("timeline/next");
  search(text_, names, frame.model.last_opened());
  return (enter || button) && !found_.empty();
}

void TimelineFind::search(const std::string& text, const TimelineNames& names, uint64_t opened) {
  if (searched_ == text && searched_in_ == opened) return;
  searched_ = text;
  searched_in_ = opened;
  found_.clear();
  if (text.empty()) return;
  ++searches_;
  for (size_t i = 0; i < names.texts.size(); ++i) {
    if (names.texts[i].find(text) != std::string::npos ||
        names.names[i].find(text) != std::string::npos)
      found_.push_back(static_cast<interp::CodeIndex>(i));
  }
}

namespace {

// The first match after an instant among the next events. Events are in order of issue, which is
// nearly the order of time.
struct NextMatch {
  static constexpr size_t kMostLookedAt = 512;
  EventPieces pieces;
  int64_t after_ns;
  int64_t after_id;
  size_t looked_at = 0;
  std::optional<interp::LogEvent> best = std::nullopt;

  // Returns true if there is more to search.
  Expected<bool> next(const interp::LogView& log, const std::stop_token& stop) {
    HOSTIR_ASSIGN_OR_RETURN(const auto events, pieces.next(log, stop));
    for (const interp::LogEvent& e : events) {
      if (++looked_at > kMostLookedAt) return false;
      const bool later = e.begin_ns() > after_ns || (e.begin_ns() == after_ns && e.id > after_id);
      if (later && (!best || e.begin_ns() < best->begin_ns())) best = e;
    }
    return !pieces.ended();
  }
};

}  // namespace

void TimelineFind::next(Frame& frame, const interp::LogEvent* from, int64_t after_ns) const {
  interp::EventFilter filter;
  filter.instructions = found_;
  filter.shown_only = true;
  int64_t after_id = -1;
  if (from != nullptr && from->begin_ns() != interp::kUnknownNs) {
    after_ns = from->begin_ns();
    after_id = from->id;
  }
  filter.from_ns = after_ns;
  auto match = std::make_shared<NextMatch>(NextMatch{EventPieces(filter), after_ns, after_id});
  Model* model = &frame.model;
  model->worker().query_log_in_pieces("timeline/find", [=](const interp::LogView& log,
                                                           const std::stop_token& stop) {
    const auto more = match->next(log, stop);
    if (!more) return QueryThread::Piece{};
    if (*more) return QueryThread::Piece{{}, true};
    if (!match->best) {
      return QueryThread::Piece{[model] {
        model->add_message(Message::Kind::kInfo, "timeline: there is no later match");
      }};
    }
    return QueryThread::Piece{[model, event = match->best->id] { model->selection.event = event; }};
  });
}

}  // namespace hostir::gui
