#include "traces/reader/event_scanner.h"

#include <fmt/core.h>

#include <algorithm>

#include "traces/writer/row_inserter.h"

namespace hostir::traces {

using interp::LogEvent;

namespace {

bool fits(int64_t value, int64_t end) { return value >= 0 && value < end; }

interp::TaskId task_of(const Statement& row, int column, interp::Rank rank) {
  if (row.is_null(column)) return interp::kNoTask;
  return interp::make_task_id(rank, static_cast<uint64_t>(row.integer(column)));
}

LogEvent event_of(const Statement& row) {
  LogEvent event;
  event.id = row.integer(0);
  event.branch = static_cast<uint32_t>(row.integer(1));
  event.decision = static_cast<uint64_t>(row.integer(2));
  // Out-of-range values become -1 or the largest index, which check() rejects.
  event.rank = fits(row.integer(3), INT32_MAX) ? static_cast<interp::Rank>(row.integer(3)) : -1;
  event.instruction = fits(row.integer(4), UINT32_MAX)
                          ? static_cast<interp::CodeIndex>(row.integer(4))
                          : UINT32_MAX;
  event.loop_path = static_cast<interp::LoopPathId>(row.integer(5));
  event.host_start_ns = row.integer_or(6, kNull);
  event.host_end_ns = row.integer_or(7, kNull);
  event.bytes = row.integer(8);
  event.waited_ns = row.integer(9);
  event.stream = row.is_null(10)                    ? -1
                 : fits(row.integer(10), INT32_MAX) ? static_cast<int32_t>(row.integer(10))
                                                    : INT32_MAX;
  event.task = task_of(row, 11, event.rank);
  event.queued_ns = row.integer_or(12, kNull);
  event.start_ns = row.integer_or(13, kNull);
  event.finish_ns = row.integer_or(14, kNull);
  event.live_bytes = row.integer_or(15, -1);
  event.waited_for = task_of(row, 16, event.rank);
  return event;
}

constexpr std::string_view kRowColumns =
    "SELECT id, branch, decision, rank, instruction, loop_path, host_start_ns, host_end_ns, bytes, "
    "waited_ns, stream, task, queued_ns, start_ns, finish_ns, live_bytes, waited_for "
    "FROM event_row ";
constexpr std::string_view kBlockColumns =
    "SELECT first_id, last_id, row_count, branch, base_decision, base_task, base_ns, begin_ns, "
    "end_ns, checksum, rows FROM event_block ";

BlockHeader header_of(const Statement& row) {
  BlockHeader h;
  h.first_id = row.integer(0);
  h.last_id = row.integer(1);
  h.row_count = row.integer(2);
  h.branch = row.integer(3);
  h.base_decision = row.integer(4);
  h.base_task = row.integer(5);
  h.base_ns = row.integer(6);
  h.begin_ns = row.integer(7);
  h.end_ns = row.integer(8);
  h.checksum = static_cast<uint64_t>(row.integer(9));
  return h;
}

Expected<void> check_event(const EventLimits& limits, const LogEvent& event) {
  const bool good = fits(event.rank, limits.rank_count) &&
                    fits(event.instruction, limits.instruction_count) &&
                    (event.stream == -1 || fits(event.stream, limits.stream_count));
  if (good) return {};
  return fail(ErrorKind::kRuntime, "log_damaged",
              fmt::format("event {} names a rank, stream or instruction that the run does not have",
                          event.id));
}

}  // namespace

Expected<EventScanner> EventScanner::create(Database& database, const EventLimits& limits,
                                            const ScanRange& range) {
  EventScanner scanner;
  scanner.limits_ = limits;
  scanner.first_id_ = range.first_id;
  scanner.last_id_ = range.last_id;
  HOSTIR_ASSIGN_OR_RETURN(scanner.rows_, database.prepare(std::string(kRowColumns) +
                                                          "WHERE id >= ? AND id <= ? ORDER BY id"));
  scanner.rows_.bind_int(1, range.first_id);
  scanner.rows_.bind_int(2, range.last_id);
  HOSTIR_ASSIGN_OR_RETURN(
      scanner.blocks_,
      database.prepare(std::string(kBlockColumns) +
                       "WHERE first_id >= COALESCE((SELECT MAX(first_id) FROM event_block WHERE "
                       "first_id <= ?1), ?1) AND first_id <= ?4 AND last_id >= ?1 AND end_ns >= ?2 "
                       "AND begin_ns <= ?3 ORDER BY first_id"));
  scanner.blocks_.bind_int(1, range.first_id);
  scanner.blocks_.bind_int(2, range.from_ns);
  scanner.blocks_.bind_int(3, range.to_ns);
  scanner.blocks_.bind_int(4, range.last_id);
  return scanner;
}

Expected<void> EventScanner::read_row() {
  HOSTIR_ASSIGN_OR_RETURN(const bool more, rows_.step());
  rows_done_ = !more;
  row_ready_ = more;
  if (!more) return {};
  row_ = event_of(rows_);
  return check_event(limits_, row_);
}

Expected<void> EventScanner::read_block() {
  block_.clear();
  block_at_ = 0;
  HOSTIR_ASSIGN_OR_RETURN(const bool more, blocks_.step());
  blocks_done_ = !more;
  if (!more) return {};
  const BlockHeader header = header_of(blocks_);
  HOSTIR_TRY(unpack_block(header, blocks_.text_view(10), block_));
  for (const LogEvent& event : block_) HOSTIR_TRY(check_event(limits_, event));
  while (block_at_ < block_.size() && block_[block_at_].id < first_id_) ++block_at_;
  while (block_at_ < block_.size() && block_.back().id > last_id_) block_.pop_back();
  return {};
}

Expected<const LogEvent*> EventScanner::next() {
  while (!rows_done_ && !row_ready_) HOSTIR_TRY(read_row());
  while (!blocks_done_ && block_at_ == block_.size()) HOSTIR_TRY(read_block());
  const bool has_block = block_at_ < block_.size();
  if (!row_ready_ && !has_block) return nullptr;
  if (row_ready_ && (!has_block || row_.id <= block_[block_at_].id)) {
    row_ready_ = false;
    return &row_;
  }
  return &block_[block_at_++];
}

Expected<EventFinder> EventFinder::create(Database& database, const EventLimits& limits) {
  EventFinder finder;
  finder.limits_ = limits;
  HOSTIR_ASSIGN_OR_RETURN(finder.row_, database.prepare(std::string(kRowColumns) + "WHERE id = ?"));
  HOSTIR_ASSIGN_OR_RETURN(finder.block_row_,
                          database.prepare(std::string(kBlockColumns) +
                                           "WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1"));
  return finder;
}

const LogEvent* EventFinder::in_block(int64_t id) const {
  const auto at = std::lower_bound(block_.begin(), block_.end(), id,
                                   [](const LogEvent& e, int64_t wanted) { return e.id < wanted; });
  return at != block_.end() && at->id == id ? &*at : nullptr;
}

Expected<const LogEvent*> EventFinder::find(int64_t id) {
  const auto missing = [id] {
    return fail(ErrorKind::kRuntime, "log_no_event", fmt::format("the log has no event {}", id));
  };
  // A late row replaces the event's entry in a block.
  row_.reset();
  row_.bind_int(1, id);
  HOSTIR_ASSIGN_OR_RETURN(const bool is_row, row_.step());
  if (is_row) {
    event_ = event_of(row_);
    HOSTIR_TRY(check_event(limits_, event_));
    return &event_;
  }
  const bool inside = !block_.empty() && id >= block_.front().id && id <= block_.back().id;
  if (!inside) {
    block_.clear();
    block_row_.reset();
    block_row_.bind_int(1, id);
    HOSTIR_ASSIGN_OR_RETURN(const bool found, block_row_.step());
    if (!found) return missing();
    HOSTIR_TRY(unpack_block(header_of(block_row_), block_row_.text_view(10), block_));
    for (const LogEvent& event : block_) HOSTIR_TRY(check_event(limits_, event));
  }
  const LogEvent* found = in_block(id);
  if (found == nullptr) return missing();
  return found;
}

Expected<LogEvent> find_event(Database& database, const EventLimits& limits, int64_t id) {
  HOSTIR_ASSIGN_OR_RETURN(EventFinder finder, EventFinder::create(database, limits));
  HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, finder.find(id));
  return *event;
}

namespace {

/// Finds the events stored as plain rows; the ids of the others go to `packed`.
Expected<std::vector<LogEvent>> find_rows(Database& database, std::span<const int64_t> ids,
                                          std::vector<int64_t>& packed) {
  std::vector<LogEvent> found;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare(std::string(kRowColumns) + "WHERE id >= ? AND id <= ? ORDER BY id"));
  rows.bind_int(1, ids.front());
  rows.bind_int(2, ids.back());
  size_t at = 0;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) break;
    const int64_t id = rows.integer(0);
    while (at < ids.size() && ids[at] < id) packed.push_back(ids[at++]);
    if (at == ids.size()) break;
    if (ids[at] != id) continue;
    found.push_back(event_of(rows));
    ++at;
  }
  packed.insert(packed.end(), ids.begin() + static_cast<std::ptrdiff_t>(at), ids.end());
  return found;
}

}  // namespace

Expected<std::vector<LogEvent>> find_events(Database& database, const EventLimits& limits,
                                            std::span<const int64_t> ids) {
  if (ids.empty()) return std::vector<LogEvent>{};
  std::vector<int64_t> packed;
  HOSTIR_ASSIGN_OR_RETURN(std::vector<LogEvent> found, find_rows(database, ids, packed));
  const auto middle = static_cast<std::ptrdiff_t>(found.size());
  HOSTIR_ASSIGN_OR_RETURN(Statement block,
                          database.prepare(std::string(kBlockColumns) +
                                           "WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1"));
  for (size_t at = 0; at < packed.size();) {
    block.reset();
    block.bind_int(1, packed[at]);
    HOSTIR_ASSIGN_OR_RETURN(const bool exists, block.step());
    size_t next = at + 1;
    if (exists) {
      const BlockHeader header = header_of(block);
      while (next < packed.size() && packed[next] <= header.last_id) ++next;
      const auto inside = std::span<const int64_t>(packed).subspan(at, next - at);
      HOSTIR_TRY(unpack_some(header, block.text_view(10), inside, found));
    }
    at = next;
  }
  for (const LogEvent& event : found) HOSTIR_TRY(check_event(limits, event));
  std::inplace_merge(found.begin(), found.begin() + middle, found.end(),
                     [](const LogEvent& a, const LogEvent& b) { return a.id < b.id; });
  return found;
}

}  // namespace hostir::traces
