#include "gui/panels/log/event_scan.h"

#include <algorithm>
#include <utility>

namespace hostir::gui {

namespace {

using interp::LogEvent;

int64_t sort_key(const LogEvent& e, EventColumn column) {
  switch (column) {
    case EventColumn::kId:
      return e.id;
    case EventColumn::kRank:
      return e.rank;
    case EventColumn::kStream:
      return e.stream;
    case EventColumn::kBegin:
      return e.begin_ns();
    case EventColumn::kDuration:
      return duration_of(e);
    case EventColumn::kWaited:
      return e.waited_ns;
    case EventColumn::kBytes:
      return e.bytes;
    case EventColumn::kText:
      return e.instruction;
  }
  return e.id;
}

std::shared_ptr<const EventNames> names_of(const interp::LogView& log) {
  auto out = std::make_shared<EventNames>();
  for (const interp::LogInstruction& i : log.instructions())
    out->texts.push_back(i.address + "  " + i.text);
  for (const interp::LogTrack& track : log.tracks()) {
    if (track.rank != log.tracks().front().rank) break;
    out->streams.push_back(track.name);
  }
  return out;
}

}  // namespace

int64_t duration_of(const LogEvent& event) {
  const bool known = event.begin_ns() != interp::kUnknownNs && event.end_ns() != interp::kUnknownNs;
  return known ? event.end_ns() - event.begin_ns() : -1;
}

Expected<std::vector<LogEvent>> EventPieces::next(const interp::LogView& log,
                                                  const std::stop_token& stop) {
  interp::EventFilter filter = filter_;
  filter.limit = piece_events_;
  // If the log omitted rows, ids can exceed the event count; so the last piece has no upper limit
  // and ends when no more events come.
  const bool tail = filter.first_id + piece_events_ >= log.extent().event_count;
  if (!tail) filter.last_id = std::min(filter.last_id, filter.first_id + piece_events_ - 1);
  HOSTIR_ASSIGN_OR_RETURN(std::vector<LogEvent> events, log.events(filter, stop));
  ended_ =
      tail ? static_cast<int64_t>(events.size()) < filter.limit : filter.last_id == filter_.last_id;
  if (!tail) {
    filter_.first_id = filter.last_id + 1;
  } else if (!events.empty()) {
    filter_.first_id = events.back().id + 1;
  }
  return events;
}

Expected<void> EventScan::begin(const interp::LogView& log) {
  HOSTIR_ASSIGN_OR_RETURN(query_, interp::parse_event_filter(key_.filter, log));
  names_ = names_of(log);
  interp::EventFilter filter = query_->filter;
  filter.first_id = std::max(filter.first_id, key_.first_id);
  pieces_.emplace(std::move(filter), piece_events_);
  return {};
}

Expected<LogPiece<EventsData>> EventScan::next(const interp::LogView& log,
                                               const std::stop_token& stop) {
  if (!query_) HOSTIR_TRY(begin(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<LogEvent> events, pieces_->next(log, stop));
  for (const LogEvent& e : events) {
    if (!query_->holds(e)) continue;
    found_.push_back(e);
    if (static_cast<int64_t>(found_.size()) == kPageEvents) return piece(log, true, e.id + 1);
  }
  return piece(log, pieces_->ended(), -1);
}

std::shared_ptr<const EventRows> EventScan::sorted(const interp::LogView& log) const {
  auto out = std::make_shared<EventRows>();
  out->events = found_;
  if (key_.sort != EventColumn::kId || key_.descending) {
    std::stable_sort(out->events.begin(), out->events.end(),
                     [&](const LogEvent& a, const LogEvent& b) {
                       const int64_t x = sort_key(a, key_.sort);
                       const int64_t y = sort_key(b, key_.sort);
                       return key_.descending ? x > y : x < y;
                     });
  }
  for (const LogEvent& e : out->events) out->undone.push_back(log.shows(e.id) ? 0 : 1);
  return out;
}

LogPiece<EventsData> EventScan::piece(const interp::LogView& log, bool done, int64_t next_id) {
  // Hand out a partial result if it is small, or if the number of rows has doubled: this bounds the
  // cost of all copies to a small multiple of the final result.
  constexpr size_t kFew = 4096;
  LogPiece<EventsData> out;
  out.more = !done;
  if (!done && show_ == Show::kWhole) return out;
  const size_t shown = rows_ ? rows_->events.size() : 0;
  const bool grown = found_.size() > shown && (found_.size() < kFew || found_.size() >= 2 * shown);
  if (!rows_ || grown || (done && found_.size() > shown)) rows_ = sorted(log);
  EventsData data;
  data.of = key_;
  data.rows = rows_;
  data.names = names_;
  data.total = log.extent().event_count;
  data.looked_at = std::min(pieces_->at(), data.total);
  data.next_id = next_id;
  data.filtered = !query_->all();
  data.done = done;
  out.answer = std::move(data);
  return out;
}

}  // namespace hostir::gui
