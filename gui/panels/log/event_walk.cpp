#include "gui/panels/log/event_walk.h"

#include <algorithm>
#include <optional>

#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

namespace {

constexpr int64_t kFirstStretch = 1024;  // first search range; doubled until an event is found
constexpr int64_t kMaxStretch = int64_t{1} << 18;
constexpr int64_t kFarthest = int64_t{1} << 22;  // maximum search distance for producers and waits

using Found = std::optional<interp::LogEvent>;

// The nearest event before or after `from` that satisfies `holds`, searched range by range.
template <class Holds>
Expected<Found> search(const interp::LogView& log, interp::EventFilter filter,
                       const interp::LogEvent& from, bool forward, Holds holds,
                       const std::stop_token& stop) {
  const int64_t count = log.extent().event_count;
  filter.shown_only = log.shows(from.id);  // from an undone event, walk among undone events
  int64_t edge = from.id;
  for (int64_t stretch = kFirstStretch; std::abs(edge - from.id) < kFarthest;
       stretch = std::min(2 * stretch, kMaxStretch)) {
    filter.first_id = forward ? edge + 1 : std::max<int64_t>(0, edge - stretch);
    filter.last_id = forward ? edge + stretch : edge - 1;
    if (filter.first_id >= count || filter.last_id < 0) break;
    filter.limit = stretch;
    HOSTIR_ASSIGN_OR_RETURN(auto events, log.events(filter, stop));
    if (!forward) std::reverse(events.begin(), events.end());
    for (const interp::LogEvent& e : events) {
      if (holds(e)) return e;
    }
    edge = forward ? filter.last_id : filter.first_id;
  }
  return Found();
}

Expected<Found> along_lane(const interp::LogView& log, const interp::LogEvent& from, bool forward,
                           const std::stop_token& stop) {
  interp::EventFilter lane;
  lane.ranks = {from.rank};
  lane.streams = {from.stream};
  return search(
      log, lane, from, forward, [](const interp::LogEvent&) { return true; }, stop);
}

Expected<Found> along_arrow(const interp::LogView& log, const TimelineEvent& from, bool forward,
                            const std::stop_token& stop) {
  if (from.collective && from.members.size() > 1) {
    const auto self =
        std::find_if(from.members.begin(), from.members.end(),
                     [&](const interp::LogCollective& m) { return m.event == from.event.id; });
    const auto size = from.members.size();
    const auto index = static_cast<size_t>(self - from.members.begin());
    HOSTIR_ASSIGN_OR_RETURN(
        const interp::LogEvent next,
        log.event(from.members[(index + (forward ? 1 : size - 1)) % size].event));
    return next;
  }
  const interp::TaskId task = forward ? from.event.task : from.event.waited_for;
  if (task == interp::kNoTask) return Found();
  interp::EventFilter rank;
  rank.ranks = {from.event.rank};
  return search(
      log, rank, from.event, forward,
      [&](const interp::LogEvent& e) { return (forward ? e.waited_for : e.task) == task; }, stop);
}

const char* nothing_there(EventWalk walk) {
  switch (walk) {
    case EventWalk::kNextOnLane:
      return "this is the last event on its lane";
    case EventWalk::kPreviousOnLane:
      return "this is the first event on its lane";
    case EventWalk::kForward:
      return "nothing waited for this event, and it is not a collective of several ranks";
    case EventWalk::kBack:
      break;
  }
  return "this event waited for no task, and it is not a collective of several ranks";
}

}  // namespace

void walk_events(Model& model, EventWalk walk) {
  const int64_t id = model.selection.event;
  if (id < 0) return;
  Model* const to = &model;
  const uint64_t opened = model.last_opened();
  const auto tell = [=](std::string text) -> std::function<void()> {
    return [=] { to->add_message(Message::Kind::kWarning, text); };
  };
  model.worker().query_log(
      "event/walk", [=](const interp::LogView& log, std::stop_token stop) -> std::function<void()> {
        const auto from = fetch_event(log, id, nullptr, stop);
        if (!from) return tell(from.error().message());
        const bool forward = walk == EventWalk::kNextOnLane || walk == EventWalk::kForward;
        const bool lane = walk == EventWalk::kNextOnLane || walk == EventWalk::kPreviousOnLane;
        const auto found = lane ? along_lane(log, from->event, forward, stop)
                                : along_arrow(log, *from, forward, stop);
        if (!found) return tell(found.error().message());
        if (!*found) return [=] { to->add_message(Message::Kind::kInfo, nothing_there(walk)); };
        return [=, event = **found] {
          if (to->last_opened() != opened) return;  // the answer belongs to another log
          to->selection.event = event.id;
          to->selection.rank = event.rank;
          to->selection.code = event.instruction;
        };
      });
}

}  // namespace hostir::gui
