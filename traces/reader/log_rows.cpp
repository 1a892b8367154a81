// LogReader: rows, one query each.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostir/support/lists.h"
#include "traces/computed/computed_tables.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::EventFilter;
using interp::kUnknownNs;
using interp::LogEvent;

namespace {

template <class T>
bool wanted(const std::vector<T>& list, const T& value) {
  return list.empty() || contains(list, value);
}

/// Parses a JSON list of strings; empty for anything else.
template <class T>
std::vector<T> json_list(std::string_view text) {
  std::vector<T> out;
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  for (const nlohmann::json& item : list.is_array() ? list : nlohmann::json::array()) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (item.is_string()) out.push_back(item.get<std::string>());
    } else {
      if (item.is_number_integer()) out.push_back(item.get<T>());
    }
  }
  return out;
}

}  // namespace

Expected<std::vector<LogEvent>> LogReader::events(const EventFilter& filter,
                                                  std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner, EventScanner::create(*connection, tables_.limits(),
                                                                     {.first_id = filter.first_id,
                                                                      .last_id = filter.last_id,
                                                                      .from_ns = filter.from_ns,
                                                                      .to_ns = filter.to_ns}));
  std::vector<LogEvent> found;
  while (static_cast<int64_t>(found.size()) < filter.limit) {
    if (stop.stop_requested()) {
      return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
    }
    HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
    if (event == nullptr) break;
    const bool overlaps = (event->begin_ns() == kUnknownNs || event->begin_ns() < filter.to_ns) &&
                          (event->end_ns() == kUnknownNs || event->end_ns() >= filter.from_ns);
    if (overlaps && wanted(filter.ranks, event->rank) && wanted(filter.streams, event->stream) &&
        wanted(filter.instructions, event->instruction) &&
        wanted(filter.mnemonics, tables_.instructions[event->instruction].mnemonic) &&
        (!filter.branch || *filter.branch == event->branch) &&
        (!filter.shown_only || shows(event->id))) {
      found.push_back(*event);
    }
  }
  return found;
}

Expected<LogEvent> LogReader::event(int64_t id) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  return find_event(*connection, tables_.limits(), id);
}

std::string LogReader::loop_path(interp::LoopPathId path) const {
  constexpr int kMaxDepth = 256;  // a damaged table may contain cycles
  auto connection = pool_.acquire();
  if (!connection || path == 0) return {};
  auto row = (*connection)->prepare("SELECT parent, iteration FROM loop_path WHERE id = ?");
  if (!row) return {};
  std::string out;
  for (int64_t id = path; id != 0 && out.size() < kMaxDepth;) {
    row->bind_int(1, id);
    const auto found = row->step();
    if (!found || !*found) break;
    out = fmt::format("{}{}{}", row->integer(1), out.empty() ? "" : ".", out);
    id = row->integer(0);
    row->reset();
  }
  return out;
}

Expected<std::vector<interp::LogCollective>> LogReader::collectives(const EventFilter& filter,
                                                                    std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(std::move(stop)));
  // Unneeded conditions would prevent SQLite from using its indexes.
  std::string sql =
      "SELECT event, branch, rank, communicator, sequence, kind, reduction, dtype, bytes, "
      "member_count, arrival_ns, start_ns, finish_ns, algbw_bytes_per_s, busbw_bytes_per_s, "
      "instruction, group_index, peer FROM collective WHERE event >= ?1 AND event <= ?2 ";
  if (filter.meeting) sql += "AND communicator = ?3 AND sequence = ?4 ";
  sql +=
      "AND COALESCE(finish_ns, ?5) >= ?5 AND COALESCE(arrival_ns, ?6) <= ?6 "
      "ORDER BY start_ns IS NULL, start_ns, communicator, group_index, sequence, rank";
  HOSTIR_ASSIGN_OR_RETURN(Statement s, connection->prepare(sql));
  s.bind_int(1, filter.first_id);
  s.bind_int(2, filter.last_id);
  if (filter.meeting) {
    s.bind_int(3, filter.meeting->first);
    s.bind_int(4, static_cast<int64_t>(filter.meeting->second));
  }
  s.bind_int(5, filter.from_ns);
  s.bind_int(6,
             filter.to_ns == std::numeric_limits<int64_t>::min() ? filter.to_ns : filter.to_ns - 1);
  std::vector<interp::LogCollective> found;
  while (static_cast<int64_t>(found.size()) < filter.limit) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) break;
    interp::LogCollective c;
    c.event = s.integer(0);
    c.rank = static_cast<interp::Rank>(s.integer(2));
    c.comm = static_cast<interp::CommIndex>(s.integer(3));
    c.sequence = static_cast<uint64_t>(s.integer(4));
    c.kind = s.text(5);
    c.reduction = s.text(6);
    c.dtype = parse_dtype(s.text_view(7)).value_or(DType::kU8);
    c.bytes = s.integer(8);
    c.member_count = s.integer(9);
    c.arrival_ns = s.integer_or(10, kUnknownNs);
    c.start_ns = s.integer_or(11, kUnknownNs);
    c.finish_ns = s.integer_or(12, kUnknownNs);
    c.algbw_bytes_per_s = s.real(13);
    c.busbw_bytes_per_s = s.real(14);
    c.instruction = static_cast<interp::CodeIndex>(s.integer(15));
    c.group = static_cast<int32_t>(s.integer(16));
    c.peer = static_cast<int32_t>(s.integer_or(17, -1));
    if (wanted(filter.ranks, c.rank) && wanted(filter.mnemonics, c.kind) &&
        wanted(filter.instructions, c.instruction) &&
        (!filter.branch || static_cast<int64_t>(*filter.branch) == s.integer(1)) &&
        (!filter.shown_only || shows(c.event))) {
      found.push_back(std::move(c));
    }
  }
  return found;
}

Expected<std::vector<interp::FaultRecord>> LogReader::faults() const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, connection->prepare(
                       "SELECT kind, sentence, ranks, instructions, notes FROM fault ORDER BY id"));
  std::vector<interp::FaultRecord> found;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) return found;
    found.push_back({s.text(0), s.text(1), json_list<interp::Rank>(s.text_view(2)),
                     json_list<std::string>(s.text_view(3)),
                     json_list<std::string>(s.text_view(4))});
  }
}

Expected<interp::DecisionRecord::Kind> decision_kind(std::string_view name) {
  const auto& names = interp::DecisionRecord::kKindNames;
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<interp::DecisionRecord::Kind>(i);
  }
  return fail(ErrorKind::kRuntime, "log_damaged",
              fmt::format("the log has a decision of an unknown kind, \"{}\"", name));
}

Expected<std::vector<interp::DecisionRecord>> LogReader::decisions() const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire());
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      connection->prepare("SELECT number, branch, kind, rank, detail FROM decision ORDER BY id"));
  std::vector<interp::DecisionRecord> found;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) return found;
    HOSTIR_ASSIGN_OR_RETURN(const auto kind, decision_kind(s.text_view(2)));
    found.push_back({kind, static_cast<uint64_t>(s.integer(0)), static_cast<uint32_t>(s.integer(1)),
                     static_cast<interp::Rank>(s.integer_or(3, interp::kNoRank)), s.text(4)});
  }
}

Expected<void> LogReader::save(const std::string& path) const { return pool_.file().copy_to(path); }

Expected<interp::LogTable> LogReader::query(std::string_view sql, int64_t max_rows,
                                            std::stop_token stop) const {
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, pool_.acquire(stop));
  HOSTIR_TRY(register_computed_tables(*connection, *this, stop));
  HOSTIR_ASSIGN_OR_RETURN(Statement s, connection->prepare(sql));
  interp::LogTable table;
  for (int i = 0; i < s.column_count(); ++i) table.columns.push_back(s.column_name(i));
  while (static_cast<int64_t>(table.rows.size()) < max_rows) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, s.step());
    if (!more) break;
    std::vector<interp::LogCell>& row = table.rows.emplace_back();
    for (int i = 0; i < s.column_count(); ++i) {
      switch (s.type(i)) {
        case CellType::kNull:
          row.emplace_back();
          break;
        case CellType::kInteger:
          row.emplace_back(s.integer(i));
          break;
        case CellType::kReal:
          row.emplace_back(s.real(i));
          break;
        case CellType::kText:
          row.emplace_back(s.text(i));
          break;
        case CellType::kBlob: {
          const auto bytes = s.blob(i);
          const auto* begin = reinterpret_cast<const char*>(bytes.data());
          row.emplace_back(interp::LogBlob{std::string(begin, begin + bytes.size())});
          break;
        }
      }
    }
  }
  return table;
}

}  // namespace hostir::traces
