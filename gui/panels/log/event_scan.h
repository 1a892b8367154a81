// Finds one page of log events that match a filter, piece by piece.
//
// A filter that few events match has to scan the whole log. Each piece looks at a bounded number of
// events, so the log can answer other queries in between, and partial results can be shown. Runs
// on the log's thread; `EventsData` is the result for the window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/panels/log/log_fetch.h"
#include "interp/session/expressions/event_filter.h"

namespace hostir::gui {

enum class EventColumn : int { kId, kRank, kText, kStream, kBegin, kDuration, kWaited, kBytes };

struct EventsKey {
  std::string filter;
  int64_t first_id = 0;
  EventColumn sort = EventColumn::kId;
  bool descending = false;
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const EventsKey&, const EventsKey&) = default;
};

struct EventRows {
  std::vector<interp::LogEvent> events;  // sorted as requested
  std::vector<char> undone;  // parallel to `events`: on an abandoned branch of the history
};
struct EventNames {
  std::vector<std::string> texts;    // by instruction
  std::vector<std::string> streams;  // by stream + 1
};
struct EventsData {
  EventsKey of;
  std::shared_ptr<const EventRows> rows;
  std::shared_ptr<const EventNames> names;
  int64_t looked_at = 0;  // all events with a smaller id have been examined
  int64_t total = 0;      // number of events in the log
  int64_t next_id = -1;   // where the next page begins; -1: this is the last page
  bool filtered = false;
  bool done = false;
};

/// Duration of an event in ns; -1 if unknown.
int64_t duration_of(const interp::LogEvent& event);

/// Yields the events that match a filter in order of id, piece by piece. The filter's `limit` is
/// ignored.
class EventPieces {
 public:
  /// Takes a few milliseconds to read.
  static constexpr int64_t kPieceEvents = 50000;
  explicit EventPieces(interp::EventFilter filter, int64_t piece_events = kPieceEvents)
      : filter_(std::move(filter)), piece_events_(piece_events) {}

  /// The matches in the next piece, often none. Errors: `log_cancelled`, `log_damaged`.
  Expected<std::vector<interp::LogEvent>> next(const interp::LogView& log,
                                               const std::stop_token& stop);
  bool ended() const { return ended_; }
  /// All events before this id have been examined.
  int64_t at() const { return filter_.first_id; }

 private:
  interp::EventFilter filter_;
  int64_t piece_events_;
  bool ended_ = false;
};

class EventScan {
 public:
  /// Page size: small enough to scroll smoothly and sort quickly.
  static constexpr int64_t kPageEvents = 100000;
  enum class Show : uint8_t { kParts, kWhole };
  explicit EventScan(EventsKey key, Show show, int64_t piece_events = EventPieces::kPieceEvents)
      : key_(std::move(key)), show_(show), piece_events_(piece_events) {}

  /// Reads the next piece; `log` must be the same in every call. Errors: those of the filter,
  /// `log_cancelled`.
  Expected<LogPiece<EventsData>> next(const interp::LogView& log, const std::stop_token& stop);

 private:
  Expected<void> begin(const interp::LogView& log);
  std::shared_ptr<const EventRows> sorted(const interp::LogView& log) const;
  LogPiece<EventsData> piece(const interp::LogView& log, bool done, int64_t next_id);

  EventsKey key_;
  Show show_;
  int64_t piece_events_;
  std::optional<interp::EventQuery> query_;  // empty until the scan begins
  std::optional<EventPieces> pieces_;
  std::shared_ptr<const EventNames> names_;
  std::vector<interp::LogEvent> found_;    // ordered by id
  std::shared_ptr<const EventRows> rows_;  // rows last handed out
};

}  // namespace hostir::gui
