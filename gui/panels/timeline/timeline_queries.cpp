#include "gui/panels/timeline/timeline_queries.h"

#include <fmt/core.h>

namespace hostir::gui {

namespace {

const TimelineEvent* ask_event(Frame& frame, LogFetch<EventKey, TimelineEvent>& slot,
                               int64_t event) {
  const auto program = frame.model.snapshot()->program;
  if (event < 0) return nullptr;
  const EventKey key{event, frame.model.generation()};
  const TimelineEvent* answer = slot.get(
      frame.model, key, [event, program](const interp::LogView& log, std::stop_token stop) {
        return fetch_event(log, event, program.get(), stop);
      });
  return answer && answer->event.id == event ? answer : nullptr;
}

}  // namespace

const TimelineNames* TimelineQueries::ask_names(Frame& frame) {
  return names_fetch_.get(frame.model, frame.model.last_opened(),
                          [](const interp::LogView& log, std::stop_token) {
                            return Expected<TimelineNames>(fetch_names(log));
                          });
}

void TimelineQueries::ask(Frame& frame, const TimelineScreen& asked) {
  const bool steps = asked.axis == TimelineAxis::kSteps;
  reading = frame.model.worker().log_progress();
  uint64_t generation = frame.model.generation() << 32;
  // While a large log is being read, repeat the query a few times a second.
  if (reading.reading) generation += 1 + static_cast<uint64_t>(frame.model.now_s() * 4);
  TimelineKey key;
  const double margin = asked.view.span_ns() / 2;
  key.view = {asked.view.from_ns - margin, asked.view.to_ns + margin};
  key.axis = asked.axis;
  key.columns = 2 * asked.columns;
  key.generation = generation;
  key.tracks = asked.tracks;
  key.groups = asked.groups;
  if (!asked.fitted) {
    key.view = {0, 1};
    key.tracks.clear();
    key.groups.clear();
  }
  const auto program = frame.model.snapshot()->program;
  lanes = lanes_fetch_.get(
      frame.model, key, [key, program](const interp::LogView& log, std::stop_token stop) {
        return key.axis == TimelineAxis::kSteps ? fetch_steps(log, key, stop)
                                                : fetch_lanes(log, key, program.get(), stop);
      });
  overview = overview_fetch_.get(
      frame.model, {asked.columns / 2, asked.axis, generation},
      [columns = asked.columns / 2, steps](const interp::LogView& log, std::stop_token stop) {
        return steps ? fetch_step_overview(log, stop) : fetch_overview(log, columns, stop);
      });
  selected = ask_event(frame, selected_fetch_, frame.model.selection.event);
  hovered = ask_event(frame, hovered_fetch_, asked.hovered_event);
  if (!asked.range || steps) {
    sums = nullptr;
    return;
  }
  const SumKey sum{asked.range->first, asked.range->second, generation};
  sums = sums_fetch_.get(frame.model, sum, [sum](const interp::LogView& log, std::stop_token) {
    return Expected<std::vector<interp::TimelineSum>>(log.sums(sum.from_ns, sum.to_ns));
  });
}

std::string TimelineQueries::reading_text() const {
  if (!reading.reading || reading.total <= 0) return {};
  return fmt::format("reading the log: {:.1f} of {:.1f} million events",
                     static_cast<double>(reading.read) / 1e6,
                     static_cast<double>(reading.total) / 1e6);
}

}  // namespace hostir::gui
