#include "traces/export/queries.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/model/verdict.h"
#include "interp/session/expressions/event_filter.h"
#include "traces/recorded/log_model.h"

namespace hostir::traces {

using interp::LogCell;
using interp::LogTable;

namespace {

std::string_view ending_text(interp::LogEnding ending) {
  switch (ending) {
    case interp::LogEnding::kRunning:
      return "is still running";
    case interp::LogEnding::kClosed:
      return "closed";
    case interp::LogEnding::kCut:
      return "cut: the writer died; everything up to then is here";
  }
  return "";
}

std::string sizes_text(const interp::LogRun& run) {
  std::string out;
  for (const auto& [name, value] : run.sizes) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, value);
  }
  return out;
}

Expected<int64_t> count(const LogReader& log, std::string_view sql) {
  HOSTIR_ASSIGN_OR_RETURN(const LogTable table, log.query(sql, 1));
  if (table.rows.empty()) return 0;
  const auto* value = std::get_if<int64_t>(&table.rows[0][0]);
  return value != nullptr ? *value : 0;
}

// The log's faults, else the verdict on what a run that did not end well recorded.
Expected<std::vector<interp::FaultRecord>> faults_or_verdict(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(std::vector<interp::FaultRecord> faults, log.faults());
  if (!faults.empty() || log.run().outcome == "ok") return faults;
  HOSTIR_ASSIGN_OR_RETURN(const model::Run run, run_of(log));
  const model::Verdict verdict = diagnose::diagnose(run);
  if (!verdict.is_fault()) return faults;
  interp::FaultRecord found;
  found.kind = verdict.kind;
  found.sentence = verdict.sentence;
  for (const model::VerdictNote& note : verdict.notes) found.notes.push_back(note.text);
  faults.push_back(std::move(found));
  return faults;
}

LogCell time_cell(int64_t ns) { return ns == interp::kUnknownNs ? LogCell() : LogCell(ns); }

}  // namespace

Expected<LogTable> info_table(const LogReader& log) {
  const interp::LogRun& run = log.run();
  LogTable table;
  table.columns = {"what", "value"};
  const auto add = [&](std::string what, LogCell value) {
    table.rows.push_back({LogCell(std::move(what)), std::move(value)});
  };
  add("command", run.command_line);
  add("program", "@" + run.entry);
  add("backend", run.backend);
  add("machine", run.machine);
  add("ranks", run.rank_count);
  if (!run.sizes.empty()) add("sizes", sizes_text(run));
  add("seed", static_cast<int64_t>(run.seed));
  add("schedule", static_cast<int64_t>(run.schedule));
  add("time", std::string(run.virtual_time ? "virtual" : "measured"));
  add("host", run.host);
  add("log", std::string(ending_text(run.ending)));
  if (!run.outcome.empty()) add("outcome", run.outcome);
  if (!run.complete) add("complete", std::string("no: instruction rows were dropped"));
  add("schema version", run.schema_version);
  add("tool version", run.tool_version);
  constexpr std::pair<const char*, const char*> kCounts[] = {
      {"instructions", "SELECT COUNT(*) FROM instruction"},
      {"events",
       "SELECT (SELECT COUNT(*) FROM event_row) + (SELECT COALESCE(SUM(row_count), 0) "
       "FROM event_block)"},
      {"collectives", "SELECT COUNT(*) FROM v_collectives"},
      {"values", "SELECT COUNT(*) FROM value"},
      {"phases", "SELECT COUNT(*) FROM phase"},
      {"decisions by hand", "SELECT COUNT(*) FROM decision"},
  };
  for (const auto& [what, sql] : kCounts) {
    HOSTIR_ASSIGN_OR_RETURN(const int64_t n, count(log, sql));
    add(what, n);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto faults, faults_or_verdict(log));
  add("faults", static_cast<int64_t>(faults.size()));
  for (const interp::FaultRecord& fault : faults) add(fault.kind, fault.sentence);
  return table;
}

Expected<LogTable> events_table(const LogReader& log, std::string_view filter, int64_t limit) {
  HOSTIR_ASSIGN_OR_RETURN(interp::EventQuery query, interp::parse_event_filter(filter, log));
  constexpr int64_t kPiece = 4096;  // events per batch
  query.filter.limit = query.all() ? std::min(limit, kPiece) : kPiece;
  std::vector<interp::LogEvent> events;
  while (static_cast<int64_t>(events.size()) < limit) {
    HOSTIR_ASSIGN_OR_RETURN(const auto piece, log.events(query.filter));
    for (const interp::LogEvent& e : piece) {
      if (query.holds(e) && static_cast<int64_t>(events.size()) < limit) events.push_back(e);
    }
    if (static_cast<int64_t>(piece.size()) < query.filter.limit) break;
    query.filter.first_id = piece.back().id + 1;
  }
  LogTable table;
  table.columns = {"event",     "rank",          "track",       "address",
                   "iteration", "host_start_ns", "host_end_ns", "start_ns",
                   "finish_ns", "waited_ns",     "bytes",       "instruction"};
  for (const interp::LogEvent& e : events) {
    const interp::LogInstruction& instruction = log.instructions()[e.instruction];
    table.rows.push_back(
        {LogCell(e.id), LogCell(int64_t{e.rank}),
         LogCell(log.tracks()[log.tables().track_of(e)].name), LogCell(instruction.address),
         LogCell(log.loop_path(e.loop_path)), time_cell(e.host_start_ns), time_cell(e.host_end_ns),
         time_cell(e.start_ns), time_cell(e.finish_ns), LogCell(e.waited_ns), LogCell(e.bytes),
         LogCell(instruction.text.empty() ? instruction.mnemonic : instruction.text)});
  }
  return table;
}

Expected<LogTable> collectives_table(const LogReader& log) {
  // A member of a `group` has its share of the group's time.
  constexpr int64_t kGroupsKnown = 5;
  const bool groups = log.run().schema_version >= kGroupsKnown;
  return log.query(
      "SELECT communicator, group_index AS \"group\", sequence, kind, reduction, dtype, bytes, "
      "arrived || ' of ' || member_count AS members, first_arrival_ns, skew_ns, start_ns, "
      "duration_ns, ROUND(algbw_bytes_per_s / 1e9, 3) AS algbw_gb_per_s, "
      "ROUND(busbw_bytes_per_s / 1e9, 3) AS busbw_gb_per_s, address" +
      std::string(groups ? ", group_address AS in_group" : "") + " FROM v_collectives");
}

Expected<LogTable> memory_table(const LogReader& log) {
  return log.query(
      "SELECT p.branch, p.rank, p.peak_bytes, p.time_ns, p.event, i.address, i.text "
      "FROM v_peak_memory p JOIN event e ON e.id = p.event "
      "LEFT JOIN instruction i ON i.id = e.instruction");
}

Expected<LogTable> faults_table(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      LogTable table,
      log.query("SELECT kind, sentence, ranks, instructions, notes FROM fault ORDER BY id"));
  if (!table.rows.empty()) return table;
  HOSTIR_ASSIGN_OR_RETURN(const auto faults, faults_or_verdict(log));
  for (const interp::FaultRecord& fault : faults) {
    std::string notes;
    for (const std::string& note : fault.notes) notes += (notes.empty() ? "" : "; ") + note;
    table.rows.push_back(
        {LogCell(fault.kind), LogCell(fault.sentence), LogCell(), LogCell(), LogCell(notes)});
  }
  return table;
}

}  // namespace hostir::traces
