// The table `slowest_waits`: reads every event once.
//
// A stream with nothing running stalls if its next work becomes ready later than the host issued
// it. It waited for the work of the same rank that finished at that moment.

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "traces/computed/computed_tables.h"
#include "traces/reader/event_scanner.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogCell;
using interp::LogEvent;

namespace {

constexpr size_t kMostWaits = 1000;

struct SlowWait {
  enum class Kind : uint8_t { kHost, kStream, kMembers } kind = Kind::kHost;
  int64_t waited_ns = 0;
  int64_t event = -1;
  interp::Rank rank = interp::kNoRank;
  interp::CodeIndex instruction = 0;
  int64_t until_ns = 0;  // kStream
  int64_t cause = -1;    // event; -1: unknown

  friend bool operator<(const SlowWait& a, const SlowWait& b) {  // longest first
    return std::tie(b.waited_ns, a.event) < std::tie(a.waited_ns, b.event);
  }
};

/// Keeps the longest waits: a longer one replaces the shortest.
class LongestWaits {
 public:
  void add(const SlowWait& wait) {
    if (waits_.size() == kMostWaits) {
      if (!(wait < waits_.front())) return;
      std::pop_heap(waits_.begin(), waits_.end());
      waits_.pop_back();
    }
    waits_.push_back(wait);
    std::push_heap(waits_.begin(), waits_.end());
  }
  std::vector<SlowWait> take() {
    std::sort(waits_.begin(), waits_.end());
    return std::move(waits_);
  }

 private:
  std::vector<SlowWait> waits_;  // a heap with the shortest in front
};

/// The events of a rank's newest tasks. Waits for older ones are rare.
class NewestTasks {
 public:
  void add(interp::TaskId task, int64_t event) {
    events_.emplace_back(task, event);
    if (events_.size() > kNewest) events_.pop_front();
  }
  int64_t event_of(interp::TaskId task) const {
    const auto at = std::lower_bound(events_.begin(), events_.end(), task,
                                     [](const auto& e, auto wanted) { return e.first < wanted; });
    return at != events_.end() && at->first == task ? at->second : -1;
  }

 private:
  static constexpr size_t kNewest = 1 << 14;
  std::deque<std::pair<interp::TaskId, int64_t>> events_;  // tasks ascend
};

class SlowWaits {
 public:
  void look_at(const LogEvent& e) {
    NewestTasks& tasks = tasks_[e.rank];
    if (e.waited_ns > 0)
      longest.add({SlowWait::Kind::kHost, e.waited_ns, e.id, e.rank, e.instruction, 0,
                   tasks.event_of(e.waited_for)});
    if (e.task != interp::kNoTask) tasks.add(e.task, e.id);
    if (e.stream < 0) return;
    int64_t& free_ns = free_[{e.rank, e.stream}];
    if (e.queued_ns != interp::kUnknownNs && e.host_end_ns != interp::kUnknownNs) {
      const int64_t stalled = e.queued_ns - std::max(e.host_end_ns, free_ns);
      if (stalled > 0)
        longest.add(
            {SlowWait::Kind::kStream, stalled, e.id, e.rank, e.instruction, e.queued_ns, -1});
    }
    free_ns = e.finish_ns == interp::kUnknownNs ? 0 : e.finish_ns;
  }

  LongestWaits longest;

 private:
  std::map<interp::Rank, NewestTasks> tasks_;
  std::map<std::pair<interp::Rank, int32_t>, int64_t> free_;
};

Expected<void> add_members(const LogReader& log, const std::stop_token& stop,
                           LongestWaits& longest) {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect(stop));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows, connection->prepare("SELECT event, rank, instruction, start_ns - arrival_ns "
                                          "FROM collective_row WHERE start_ns > arrival_ns"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return {};
    if (!log.shows(rows.integer(0))) continue;
    longest.add({SlowWait::Kind::kMembers, rows.integer(3), rows.integer(0),
                 static_cast<interp::Rank>(rows.integer(1)),
                 static_cast<interp::CodeIndex>(rows.integer(2)), 0, -1});
  }
}

// The first event of the rank's streams that ends at this time.
int64_t ended_at(const LogReader& log, interp::Rank rank, int64_t time_ns) {
  int64_t found = -1;
  for (size_t t = 0; t < log.tracks().size(); ++t) {
    if (log.tracks()[t].rank != rank || log.tracks()[t].stream < 0) continue;
    for (const interp::TimelineSlice& slice :
         log.timeline({static_cast<interp::TrackId>(t), time_ns - 1, time_ns + 1, 2})) {
      if (slice.count == 1 && slice.end_ns == time_ns && (found < 0 || slice.event < found))
        found = slice.event;
    }
  }
  return found;
}

const char* wait_reason(SlowWait::Kind kind) {
  switch (kind) {
    case SlowWait::Kind::kHost:
      return "host waits for an event";
    case SlowWait::Kind::kStream:
      return "stream waits for an event";
    case SlowWait::Kind::kMembers:
      return "members of the collective are missing";
  }
  return "";
}

}  // namespace

Expected<ComputedRows> slowest_waits(const LogReader& log, const std::stop_token& stop) {
  SlowWaits waits;
  {
    HOSTIR_ASSIGN_OR_RETURN(const auto connection, log.connect(stop));
    HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                            EventScanner::create(*connection, log.tables().limits(), ScanRange{}));
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
      if (event == nullptr) break;
      constexpr int64_t kLookEvery = 4096;
      if (event->id % kLookEvery == 0) {
        log.report_progress(event->id, log.extent().event_count);
        if (stop.stop_requested()) {
          return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
        }
      }
      if (log.shows(event->id)) waits.look_at(*event);
    }
  }
  HOSTIR_TRY(add_members(log, stop, waits.longest));
  ComputedRows::Cells rows;
  for (SlowWait& wait : waits.longest.take()) {
    if (wait.kind == SlowWait::Kind::kStream) wait.cause = ended_at(log, wait.rank, wait.until_ns);
    rows.push_back({LogCell(wait.event), LogCell(int64_t{wait.rank}),
                    LogCell(static_cast<int64_t>(wait.instruction)), LogCell(wait.waited_ns),
                    LogCell(std::string(wait_reason(wait.kind))),
                    wait.cause < 0 ? LogCell() : LogCell(wait.cause)});
  }
  return rows;
}

}  // namespace hostir::traces
