// 1. The program, as far as it is known (log_builder_program.cpp).
// 2. Events in order of issue, with collectives and calls (log_builder_events.cpp).
// 3. Ranks, gaps, the verdict.

#include "traces/writer/log_builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostir/support/json_text.h"
#include "hostir/support/unix_time.h"
#include "traces/database/log_file.h"
#include "traces/database/schema.h"
#include "traces/database/static_rows.h"
#include "traces/writer/call_streams.h"
#include "traces/writer/log_builder_parts.h"

namespace hostir::traces {

using model::Member;
using model::Run;

namespace {

constexpr std::string_view kGapKinds[] = {"rank missing", "begins late",   "ends early",
                                          "rows dropped", "contradiction", "not translated"};

}  // namespace

Expected<void> LogBuilder::write(const std::string& path) {
  find_origin();
  describe();
  collect_events();
  HOSTIR_ASSIGN_OR_RETURN(Database database, create_log_file(path, [&](Database& fresh) {
                            return write_tables(fresh);
                          }));
  return settle_log_file(database);
}

Expected<void> LogBuilder::write_tables(Database& database) {
  database_ = &database;
  HOSTIR_TRY(write_run_rows(database, description_, {0, "none"}));
  HOSTIR_TRY(write_instruction_rows(database, description_.program));
  HOSTIR_TRY(write_collective_site_rows(database, description_.program));
  HOSTIR_TRY(write_group_facts());
  HOSTIR_TRY(write_loop_paths());
  HOSTIR_TRY(write_events());
  HOSTIR_TRY(write_states());
  HOSTIR_TRY(write_gaps());
  HOSTIR_TRY(write_end());
  HOSTIR_TRY(database.execute(index_sql()));
  return write_table_digests(database);
}

bool LogBuilder::has_wall_clock() const {
  return std::any_of(run_.clocks.begin(), run_.clocks.end(),
                     [](const model::Clock& c) { return c.kind == model::ClockKind::kWall; });
}

void LogBuilder::find_origin() {
  if (!has_wall_clock()) return;
  std::optional<int64_t> first;
  const auto look_at = [&](const model::Times& times) {
    const auto ns = begin_of(times);
    if (ns && (!first || *ns < *first)) first = ns;
  };
  const auto look = [&](const Member& m) { look_at(m.times); };
  for (const model::Meeting& meeting : run_.meetings) {
    for (const Member& m : meeting.members) look(m);
  }
  for (const model::SendRecv& pair : run_.pairs) {
    look(pair.send);
    look(pair.recv);
  }
  for (const model::Task& task : run_.tasks) look_at(task.times);
  origin_ns_ = first.value_or(0);
}

std::optional<int64_t> LogBuilder::common(std::optional<int64_t> ns, model::ClockId clock) const {
  if (!ns) return ns;
  int64_t offset = 0;
  if (clock.index < run_.clocks.size()) offset = run_.clocks[clock.index].offset_ns.value_or(0);
  return *ns + offset - origin_ns_;
}

std::optional<int64_t> LogBuilder::begin_of(const model::Times& times) const {
  if (times.issued_ns) return common(times.issued_ns, times.issued_clock);
  return common(times.ready_ns ? times.ready_ns : times.started_ns, times.execution_clock);
}

void LogBuilder::bind(Statement& s, int index, std::optional<int64_t> value) {
  value ? s.bind_int(index, *value) : s.bind_null(index);
}

Expected<void> LogBuilder::write_group_facts() {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database_->prepare("INSERT OR REPLACE INTO group_fact VALUES (?, ?, ?, ?)"));
  for (size_t i = 0; i < run_.communicators.size(); ++i) {
    const model::Communicator& c = run_.communicators[i];
    if (c.description.empty() && !c.size) continue;
    s.bind_int(1, declaration_[i]);
    s.bind_int(2, group_[i]);
    c.description.empty() ? s.bind_null(3) : s.bind_text(3, c.description);
    bind(s, 4, c.size ? std::optional<int64_t>(*c.size) : std::nullopt);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> LogBuilder::write_states() {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database_->prepare("INSERT INTO rank_state (rank, state, record, instruction, loop_path, "
                         "waits_for, host_ns, computer, process, found_by) "
                         "VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?)"));
  for (size_t r = 0; r < run_.ranks.size(); ++r) {
    const model::RankFacts& facts = run_.ranks[r];
    if (facts.record == model::RecordState::kMissing) continue;
    s.bind_int(1, static_cast<int64_t>(r));
    s.bind_text(2, name(facts.state));
    s.bind_text(3, name(facts.record));
    bind(s, 4, facts.at.valid() ? std::optional<int64_t>(facts.at.index) : std::nullopt);
    bind(s, 5,
         facts.waits_for != model::kNoTask
             ? std::optional(static_cast<int64_t>(model::task_number(facts.waits_for)))
             : std::nullopt);
    bind(s, 6, common(facts.last_sign_ns, facts.last_sign_clock));
    facts.computer.empty() ? s.bind_null(7) : s.bind_text(7, facts.computer);
    bind(s, 8, facts.process);
    facts.found_by.empty() ? s.bind_null(9) : s.bind_text(9, facts.found_by);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> LogBuilder::write_gaps() {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database_->prepare("INSERT INTO gap (kind, rank, communicator, group_index, "
                                      "sequence, text) VALUES (?, ?, ?, ?, ?, ?)"));
  for (const model::Gap& gap : run_.gaps) {
    const bool in = gap.communicator.index < declaration_.size();
    s.bind_text(1, kGapKinds[static_cast<size_t>(gap.kind)]);
    bind(s, 2, gap.rank ? std::optional<int64_t>(*gap.rank) : std::nullopt);
    bind(s, 3, in ? std::optional(declaration_[gap.communicator.index]) : std::nullopt);
    bind(s, 4, in ? std::optional<int64_t>(group_[gap.communicator.index]) : std::nullopt);
    bind(s, 5, gap.sequence ? std::optional(static_cast<int64_t>(*gap.sequence)) : std::nullopt);
    s.bind_text(6, gap.text);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> LogBuilder::write_end() {
  const model::Verdict& verdict = *options_.judged;
  if (verdict.is_fault() && options_.verdict == LogBuilderOptions::Verdict::kStored)
    HOSTIR_TRY(write_fault(verdict));
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          database_->prepare("UPDATE run SET ended_unix_ns = ?, outcome = ?, "
                                             "clock_origin_unix_ns = ?, event_count = ?"));
  s.bind_int(1, unix_time_ns());
  const std::string outcome = verdict.is_fault()                    ? verdict.kind
                              : run_.motion == model::Motion::kOver ? "ok"
                                                                    : "";
  outcome.empty() ? s.bind_null(2) : s.bind_text(2, outcome);
  has_wall_clock() ? s.bind_int(3, origin_ns_) : s.bind_null(3);
  s.bind_int(4, static_cast<int64_t>(events_.size()));
  return s.run();
}

Expected<void> LogBuilder::write_fault(const model::Verdict& verdict) {
  nlohmann::json ranks = nlohmann::json::array();
  nlohmann::json places = nlohmann::json::array();
  nlohmann::json notes = nlohmann::json::array();
  for (const model::VerdictNote& note : verdict.notes) {
    notes.push_back(note.text);
    const model::Instruction* at = run_.find(note.instruction);
    for (const model::Rank rank : note.ranks) {
      ranks.push_back(rank);
      places.push_back(at != nullptr ? model::place_text(*at) : std::string());
    }
  }
  const auto text = [](const nlohmann::json& list) { return json_text(list); };
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s, database_->prepare("INSERT INTO fault (kind, sentence, ranks, instructions, "
                                      "notes, event_count) VALUES (?, ?, ?, ?, ?, ?)"));
  const std::string rank_text = text(ranks);
  const std::string place_text = text(places);
  const std::string note_text = text(notes);
  s.bind_text(1, verdict.kind);
  s.bind_text(2, verdict.sentence);
  s.bind_text(3, rank_text);
  s.bind_text(4, place_text);
  s.bind_text(5, note_text);
  s.bind_int(6, static_cast<int64_t>(events_.size()));
  return s.run();
}

Expected<void> write_log(const std::string& path, const Run& run,
                         const LogBuilderOptions& options) {
  // Judged before it gets streams, which decide only how it is shown.
  LogBuilderOptions judged = options;
  if (!judged.judged) judged.judged = diagnose::diagnose(run);
  Run shown = run;
  add_call_streams(shown);
  return LogBuilder(shown, judged).write(path);
}

}  // namespace hostir::traces
