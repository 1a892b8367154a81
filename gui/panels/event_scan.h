// One page of the log's events that a filter lets through, found piece by piece.
//
// A filter that hardly anything passes goes through the whole log. Each piece looks at a bounded
// number of events, so that other questions to the log are answered in between; what was found so
// far can be shown. On the log's thread; `EventsData` is what the window is given.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/panels/log_fetch.h"
#include "interp/session/event_filter.h"

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
  std::vector<interp::LogEvent> events;  // sorted as asked for
  std::vector<char> undone;              // beside `events`: gone back over and done otherwise
};
struct EventNames {
  std::vector<std::string> texts;    // by instruction
  std::vector<std::string> streams;  // by stream + 1
};
struct EventsData {
  EventsKey of;
  std::shared_ptr<const EventRows> rows;
  std::shared_ptr<const EventNames> names;
  int64_t looked_at = 0;  // all events before this id were
  int64_t total = 0;      // in the log
  int64_t next_id = -1;   // where the next page begins; -1: there is none
  bool filtered = false;
  bool done = false;
};

/// Of an event, in ns; -1: not known.
int64_t duration_of(const interp::LogEvent& event);

/// The events of a filter in order of id, piece by piece; its `limit` means nothing here.
class EventPieces {
 public:
  /// What is read in a few milliseconds.
  static constexpr int64_t kPieceEvents = 50000;
  explicit EventPieces(interp::EventFilter filter, int64_t piece_events = kPieceEvents)
      : filter_(std::move(filter)), piece_events_(piece_events) {}

  /// Those of the next piece, often none. Errors: `log_cancelled`, `log_damaged`.
  Expected<std::vector<interp::LogEvent>> next(const interp::LogView& log,
                                               const std::stop_token& stop);
  bool ended() const { return ended_; }
  /// All events before this id were looked at.
  int64_t at() const { return filter_.first_id; }

 private:
  interp::EventFilter filter_;
  int64_t piece_events_;
  bool ended_ = false;
};

class EventScan {
 public:
  /// A page: what a table can scroll through smoothly, and what is sorted in a blink.
  static constexpr int64_t kPageEvents = 100000;
  enum class Show : uint8_t { kParts, kWhole };
  explicit EventScan(EventsKey key, Show show, int64_t piece_events = EventPieces::kPieceEvents)
      : key_(std::move(key)), show_(show), piece_events_(piece_events) {}

  /// The next piece, always of the same log. Errors: those of the filter, `log_cancelled`.
  Expected<LogPiece<EventsData>> next(const interp::LogView& log, const std::stop_token& stop);

 private:
  Expected<void> begin(const interp::LogView& log);
  std::shared_ptr<const EventRows> sorted(const interp::LogView& log) const;
  LogPiece<EventsData> piece(const interp::LogView& log, bool done, int64_t next_id);

  EventsKey key_;
  Show show_;
  int64_t piece_events_;
  std::optional<interp::EventQuery> query_;  // nothing: it has not begun
  std::optional<EventPieces> pieces_;
  std::shared_ptr<const EventNames> names_;
  std::vector<interp::LogEvent> found_;    // in order of id
  std::shared_ptr<const EventRows> rows_;  // that were handed out last
};

}  // namespace hostir::gui
