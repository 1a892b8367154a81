#include "traces/reader/event_loader.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "hostir/support/usable_cores.h"

namespace hostir::traces {

using interp::LogEvent;

namespace {

struct Stretch {
  int64_t first_id;
  int64_t last_id;
};

constexpr int64_t kStretchEvents = 65536;
constexpr int64_t kMaxStretches = 65536;  // a damaged log may claim any ids

/// Stretches begin at the start of a block or between blocks, so that no block is read twice.
Expected<std::vector<Stretch>> stretches_of(Database& database, int64_t first_id, int64_t last_id) {
  const int64_t step = std::max(kStretchEvents, (last_id - first_id) / kMaxStretches);
  std::vector<Stretch> out;
  int64_t begin = first_id;
  const auto close = [&](int64_t next) {
    if (next > begin) out.push_back({begin, next - 1});
    begin = std::max(begin, next);
  };
  HOSTIR_ASSIGN_OR_RETURN(Statement next_row,
                          database.prepare("SELECT MIN(id) FROM event_row WHERE id >= ?1"));
  // No block is between `begin` and `next`. Ids without rows are skipped: a damaged log has rows
  // far apart.
  const auto fill_to = [&](int64_t next) -> Expected<void> {
    while (next - begin >= 2 * step) {
      next_row.reset();
      next_row.bind_int(1, begin);
      HOSTIR_TRY(next_row.step());
      begin = next_row.is_null(0) ? next : std::min(next_row.integer(0), next);
      close(next - begin > step ? begin + step : next);
    }
    return {};
  };
  HOSTIR_ASSIGN_OR_RETURN(
      Statement blocks,
      database.prepare("SELECT first_id, last_id FROM event_block WHERE first_id >= COALESCE("
                       "(SELECT MAX(first_id) FROM event_block WHERE first_id <= ?1), ?1) "
                       "ORDER BY first_id"));
  blocks.bind_int(1, first_id);
  int64_t after = first_id;  // end of the last block
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, blocks.step());
    if (!more) break;
    const int64_t first = std::max(blocks.integer(0), first_id);
    if (first < after || first > last_id) continue;  // damaged, or written meanwhile
    if (first - after >= 2 * step) {
      close(after);
      HOSTIR_TRY(fill_to(first));
    }
    if (first - begin >= step) close(first);
    after = std::clamp(blocks.integer(1), first, last_id) + 1;
  }
  if (last_id + 1 - after >= 2 * step) {
    close(after);
    HOSTIR_TRY(fill_to(last_id + 1));
  }
  close(last_id + 1);
  return out;
}

/// Passes parts from the reading threads to the consumer.
class Handover {
 public:
  explicit Handover(std::vector<Stretch> stretches, int64_t ahead)
      : stretches_(std::move(stretches)), parts_(stretches_.size()), ahead_(ahead) {}

  std::optional<size_t> next_stretch() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return failed_ || static_cast<int64_t>(next_) < static_cast<int64_t>(taken_) + ahead_;
    });
    if (failed_ || next_ >= stretches_.size()) return std::nullopt;
    return next_++;
  }
  const Stretch& stretch(size_t index) const { return stretches_[index]; }
  size_t size() const { return stretches_.size(); }
  void put(size_t index, Expected<EventPart> part) {
    const std::scoped_lock lock(mutex_);
    parts_[index] = std::make_unique<Expected<EventPart>>(std::move(part));
    ready_.notify_one();
  }
  std::unique_ptr<Expected<EventPart>> take(size_t index) {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return parts_[index] != nullptr; });
    auto part = std::move(parts_[index]);
    taken_ = index + 1;
    if (!*part) failed_ = true;
    room_.notify_all();
    return part;
  }

 private:
  std::vector<Stretch> stretches_;
  std::vector<std::unique_ptr<Expected<EventPart>>> parts_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  int64_t ahead_;
  size_t next_ = 0;
  size_t taken_ = 0;
  bool failed_ = false;
};

Expected<EventPart> read_stretch(Database& database, const LogTables& tables,
                                 const interp::Lineage& lineage, const Stretch& stretch) {
  EventPart part(tables);
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner, EventScanner::create(database, tables.limits(),
                                                                     {.first_id = stretch.first_id,
                                                                      .last_id = stretch.last_id}));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
    if (event == nullptr) return part;
    part.add(tables, lineage, *event);
  }
}

void read_stretches(Handover& handover, ConnectionPool& pool, const LogTables& tables,
                    const interp::Lineage& lineage, const std::stop_token& stop) {
  auto connection = pool.acquire(stop);
  while (const auto index = handover.next_stretch()) {
    if (!connection) {
      handover.put(*index, tl::unexpected(connection.error()));
    } else if (stop.stop_requested()) {
      handover.put(*index,
                   fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled"));
    } else {
      handover.put(*index, read_stretch(**connection, tables, lineage, handover.stretch(*index)));
    }
  }
}

}  // namespace

bool is_open(const LogEvent& event) {
  return event.task != interp::kNoTask && event.finish_ns == interp::kUnknownNs;
}

EventPart::EventPart(const LogTables& tables)
    : tracks(tables.tracks.size()), memory(static_cast<size_t>(tables.limits().rank_count)) {}

void EventPart::show(const LogTables& tables, const interp::Lineage& lineage,
                     const LogEvent& event) {
  if (!lineage.contains(event.branch, event.decision)) return;
  if (const auto drawn = Timeline::event_of(event)) {
    tracks[tables.track_of(event)].push_back(*drawn);
  }
  if (event.live_bytes >= 0 && event.end_ns() != interp::kUnknownNs) {
    memory[static_cast<size_t>(event.rank)].push_back({event.end_ns(), event.live_bytes, event.id});
  }
}

void EventPart::add(const LogTables& tables, const interp::Lineage& lineage,
                    const LogEvent& logged) {
  next_id = std::max(next_id, logged.id + 1);
  ++row_count;
  if (is_open(logged)) open.push_back(logged.id);
  const LogEvent event = tables.on_stream(logged);
  show(tables, lineage, event);
  // While it was being issued, an asynchronous instruction also appears on its host's track.
  if (event.stream < 0 || !lineage.contains(event.branch, event.decision)) return;
  LogEvent issue = event;
  issue.stream = -1;
  if (const auto drawn = Timeline::event_of(issue)) {
    tracks[tables.track_of(issue)].push_back(*drawn);
  }
}

Expected<int64_t> last_event_id(Database& database) {
  HOSTIR_ASSIGN_OR_RETURN(const auto row, database.query_int("SELECT MAX(id) FROM event_row"));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto block,
      database.query_int("SELECT last_id FROM event_block ORDER BY first_id DESC LIMIT 1"));
  // A damaged file may contain anything; the result plus one must not overflow.
  return std::min(std::max(row.value_or(-1), block.value_or(-1)),
                  std::numeric_limits<int64_t>::max() - 1);
}

Expected<void> load_events(ConnectionPool& pool, const LogTables& tables,
                           const interp::Lineage& lineage, int64_t first_id, int64_t last_id,
                           const std::stop_token& stop,
                           const std::function<void(const EventPart&)>& deliver) {
  std::vector<Stretch> stretches;
  {
    HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool.acquire(stop));
    HOSTIR_ASSIGN_OR_RETURN(stretches, stretches_of(*connection, first_id, last_id));
  }
  constexpr size_t kMaxThreads = 8;
  const size_t threads =
      std::min({static_cast<size_t>(usable_cores()), kMaxThreads, stretches.size()});
  Handover handover(std::move(stretches), static_cast<int64_t>(2 * threads));
  std::vector<std::jthread> readers;
  for (size_t i = 0; i < threads; ++i) {
    readers.emplace_back([&] { read_stretches(handover, pool, tables, lineage, stop); });
  }
  for (size_t i = 0; i < handover.size(); ++i) {
    const auto part = handover.take(i);
    if (!*part) return tl::unexpected(part->error());
    deliver(**part);
  }
  return {};
}

}  // namespace hostir::traces
