// LogReader: finds the writes of a tensor and reads their contents.

#include <algorithm>

#include "hostir/ir/tensor.h"
#include "traces/reader/element_text.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogTensor;
using interp::LogValue;
using interp::LogWrite;
using interp::LogWrites;

namespace {

constexpr int64_t kEventsPerAnswer = int64_t{1} << 20;  // per find_writes() call
constexpr int64_t kNoMore = std::numeric_limits<int64_t>::max();

/// True if a rank's writes of a tensor can match the filter.
bool means(const interp::WriteFilter& filter, const LogTensor& tensor, interp::Rank rank) {
  if (rank < 0 || (!filter.value.empty() && tensor.name != filter.value)) return false;
  if (filter.rank != interp::kNoRank && filter.rank != rank) return false;
  if (!filter.element || filter.element->size() != tensor.extents.size()) return true;
  const auto index = static_cast<size_t>(rank);
  return index < tensor.boxes.size() && tensor.boxes[index].holds(*filter.element);
}

Expected<void> add_places(Statement& rows, std::vector<LogWrite>& places, interp::Rank rank) {
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return {};
    places.push_back({rows.integer_or(0, -1), rows.integer(1), rank});
  }
}

/// Uses the index (tensor, rank, event), which has everything needed.
Expected<void> places_by_index(Database& database, const LogTables& tables,
                               const interp::WriteFilter& filter, LogWrites& found) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement rows, database.prepare("SELECT event, id FROM value WHERE tensor = ? AND rank = ? "
                                       "AND event >= ? AND event < ?"));
  HOSTIR_ASSIGN_OR_RETURN(
      Statement nameless,
      database.prepare(
          "SELECT event, id FROM value WHERE tensor = ? AND rank = ? AND event IS NULL"));
  // The ranks that wrote it, with one index seek each.
  HOSTIR_ASSIGN_OR_RETURN(
      Statement next_rank,
      database.prepare("SELECT MIN(rank) FROM value WHERE tensor = ? AND rank > ?"));
  for (const LogTensor& tensor : tables.tensors) {
    if (!filter.value.empty() && tensor.name != filter.value) continue;
    for (int64_t before = -1;;) {
      next_rank.reset();
      next_rank.bind_int(1, tensor.id);
      next_rank.bind_int(2, before);
      HOSTIR_ASSIGN_OR_RETURN(const bool found_rank, next_rank.step());
      if (!found_rank || next_rank.is_null(0) || next_rank.integer(0) > INT32_MAX) break;
      before = next_rank.integer(0);
      const auto rank = static_cast<interp::Rank>(before);
      if (!means(filter, tensor, rank)) continue;
      for (Statement* statement : {&rows, &nameless}) {
        statement->reset();
        statement->bind_int(1, tensor.id);
        statement->bind_int(2, rank);
      }
      rows.bind_int(3, filter.first_event);
      rows.bind_int(4, found.next_event);
      HOSTIR_TRY(add_places(rows, found.places, rank));
      if (filter.first_event < 0) HOSTIR_TRY(add_places(nameless, found.places, rank));
    }
  }
  return {};
}

/// A log that was never closed has no index: scan all values at once.
Expected<void> places_by_scan(Database& database, const LogTables& tables,
                              const interp::WriteFilter& filter, LogWrites& found) {
  found.next_event = kNoMore;
  HOSTIR_ASSIGN_OR_RETURN(Statement rows,
                          database.prepare("SELECT event, id, rank, tensor FROM value"));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return {};
    const int64_t tensor = rows.integer_or(3, -1);
    const auto rank = static_cast<interp::Rank>(rows.integer(2));
    if (tensor < 0 || tensor >= static_cast<int64_t>(tables.tensors.size())) continue;
    if (!means(filter, tables.tensors[static_cast<size_t>(tensor)], rank)) continue;
    const int64_t event = rows.integer_or(0, -1);
    if (event >= filter.first_event) found.places.push_back({event, rows.integer(1), rank});
  }
}

/// Fills in the writing events from the log; `values` may be in any order.
Expected<void> add_events(Database& database, const EventLimits& limits,
                          std::vector<LogValue>& values) {
  std::vector<int64_t> ids;
  for (const LogValue& value : values) {
    if (value.event >= 0) ids.push_back(value.event);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  HOSTIR_ASSIGN_OR_RETURN(const auto events, find_events(database, limits, ids));
  for (LogValue& value : values) {
    const auto event =
        std::lower_bound(events.begin(), events.end(), value.event,
                         [](const interp::LogEvent& e, int64_t id) { return e.id < id; });
    if (event == events.end() || event->id != value.event) continue;
    value.instruction = event->instruction;
    value.loop_path = event->loop_path;
    value.decision = event->decision;
    value.time_ns = event->finish_ns;
  }
  return {};
}

/// One transaction around many small reads; otherwise each row locks and unlocks the file.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database)
      : database_(database), begun_(database.execute("BEGIN").has_value()) {}
  ~ReadTransaction() {
    if (begun_) (void)database_.execute("COMMIT");
  }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database& database_;
  bool begun_;
};

LogValue value_of(const Statement& row) {
  LogValue value;
  value.event = row.integer_or(0, -1);
  value.rank = static_cast<interp::Rank>(row.integer(1));
  value.tensor = row.integer_or(2, -1);
  value.digest = static_cast<uint64_t>(row.integer(3));
  value.has_stats = !row.is_null(6);
  value.min = row.real(4);
  value.max = row.real(5);
  value.mean = row.real(6);
  value.nan_count = row.integer(7);
  value.inf_count = row.integer(8);
  value.has_data = !row.is_null(9);
  value.branch = static_cast<uint32_t>(row.integer_or(10, 0));
  return value;
}

}  // namespace

Expected<LogWrites> LogReader::find_writes(const interp::WriteFilter& filter,
                                           std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto indexes,
      connection->query_int("SELECT COUNT(*) FROM sqlite_master WHERE name = 'value_by_tensor'"));
  LogWrites found;
  if (indexes.value_or(0) > 0) {
    HOSTIR_ASSIGN_OR_RETURN(const auto last,
                            connection->query_int("SELECT MAX(event) FROM ("
                                                  "SELECT MAX(id) event FROM event_row UNION ALL "
                                                  "SELECT MAX(last_id) FROM event_block)"));
    const int64_t first = std::max<int64_t>(0, filter.first_event);
    if (first < kNoMore - kEventsPerAnswer && first + kEventsPerAnswer <= last.value_or(0))
      found.next_event = first + kEventsPerAnswer;
    HOSTIR_TRY(places_by_index(*connection, tables_, filter, found));
  } else {
    HOSTIR_TRY(places_by_scan(*connection, tables_, filter, found));
  }
  if (filter.shown_only)
    found.left_out = static_cast<int64_t>(
        std::erase_if(found.places, [&](const LogWrite& place) { return !shows(place.event); }));
  // Sort here: the rows come ordered by rank, and SQLite would sort on disk.
  std::sort(found.places.begin(), found.places.end(), [](const LogWrite& a, const LogWrite& b) {
    return a.event != b.event ? a.event < b.event : a.rank < b.rank;
  });
  return found;
}

Expected<std::vector<LogValue>> LogReader::read_writes(
    std::span<const LogWrite> places, const std::optional<std::vector<int64_t>>& element,
    std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  const ReadTransaction transaction(*connection);
  HOSTIR_ASSIGN_OR_RETURN(
      Statement row,
      connection->prepare("SELECT event, rank, tensor, digest, min, max, mean, nan_count, "
                          "inf_count, data, branch FROM value WHERE id = ?"));
  std::vector<LogValue> found;
  found.reserve(places.size());
  for (const LogWrite& place : places) {
    row.reset();
    row.bind_int(1, place.row);
    HOSTIR_ASSIGN_OR_RETURN(const bool exists, row.step());
    if (!exists) continue;
    LogValue value = value_of(row);
    value.row = place.row;
    const bool known =
        value.tensor >= 0 && value.tensor < static_cast<int64_t>(tables_.tensors.size());
    if (!known) continue;
    const LogTensor& tensor = tables_.tensors[static_cast<size_t>(value.tensor)];
    const auto index = static_cast<size_t>(value.rank);
    if (element && value.has_data && index < tensor.boxes.size() &&
        tensor.boxes[index].holds(*element)) {
      HOSTIR_ASSIGN_OR_RETURN(const auto bytes, data(static_cast<uint64_t>(row.integer(9))));
      value.element = element_text(tensor.dtype, tensor.boxes[index], *element, bytes);
    }
    found.push_back(std::move(value));
  }
  HOSTIR_TRY(add_events(*connection, tables_.limits(), found));
  return found;
}

Expected<Tensor> LogReader::contents(const LogWrite& place) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  HOSTIR_ASSIGN_OR_RETURN(Statement row,
                          connection->prepare("SELECT tensor, rank, data FROM value WHERE id = ?"));
  row.bind_int(1, place.row);
  HOSTIR_ASSIGN_OR_RETURN(const bool exists, row.step());
  const auto tensor = static_cast<size_t>(exists ? row.integer_or(0, -1) : -1);
  const auto rank = static_cast<size_t>(exists ? row.integer(1) : -1);
  if (!exists || row.is_null(2) || tensor >= tables_.tensors.size() ||
      rank >= tables_.tensors[tensor].boxes.size())
    return fail(ErrorKind::kRuntime, "log_no_data", "the log has no such contents");
  const LogTensor& info = tables_.tensors[tensor];
  Tensor out{info.dtype, info.boxes[rank].extents(), {}};
  HOSTIR_ASSIGN_OR_RETURN(out.data, data(static_cast<uint64_t>(row.integer(2))));
  if (static_cast<int64_t>(out.data.size()) != out.element_count() * size_bytes(out.dtype))
    return fail(ErrorKind::kRuntime, "log_damaged", "recorded contents have another size");
  return out;
}

}  // namespace hostir::traces
