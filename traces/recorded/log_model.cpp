// 1. The program: instructions, streams, communicators.
// 2. Ranks: from the rows of `rank_state` if these belong to the end of the history, else from the
//    last event (model_reader_ranks.cpp).
// 3. Collectives, and work in flight with the events it awaits (model_reader_calls.cpp).
// 4. Whether anything can still move.

#include "traces/recorded/log_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/diagnose/calls/user_frame.h"
#include "interp/model/verdict.h"
#include "traces/database/log_file.h"
#include "traces/recorded/model_reader.h"

namespace hostir::traces {

using interp::Rank;
using model::CommunicatorId;
using model::InstructionId;

namespace {

std::string group_list(const std::vector<std::vector<Rank>>& groups) {
  std::string out;
  for (const auto& group : groups) {
    out += fmt::format("{}[{}]", out.empty() ? "" : ",", fmt::join(group, ","));
  }
  return out;
}

// True if some rank waits in a call for a rank that has returned without it. Rows are written in
// order, so the record of a rank that returned has all its calls.
bool waits_for_returned_rank(const model::Run& run) {
  const auto returned = [&](const model::Member& member) {
    const model::RankFacts* facts = run.find(member.rank);
    return !member.arrived() && facts != nullptr && facts->state == model::RankState::kDone &&
           facts->record == model::RecordState::kWhole;
  };
  const auto waits = [](const model::Member& member) { return member.unfinished(); };
  return std::ranges::any_of(run.meetings,
                             [&](const model::Meeting& meeting) {
                               return std::ranges::any_of(meeting.members, waits) &&
                                      std::ranges::any_of(meeting.members, returned);
                             }) ||
         std::ranges::any_of(run.pairs, [&](const model::SendRecv& pair) {
           return (waits(pair.send) && returned(pair.recv)) ||
                  (waits(pair.recv) && returned(pair.send));
         });
}

}  // namespace

Expected<model::Run> ModelReader::read() {
  HOSTIR_ASSIGN_OR_RETURN(ConnectionPool::Lease connection, log_.connect());
  database_ = &*connection;
  HOSTIR_ASSIGN_OR_RETURN(const auto last, database_->query_int(kLastEventSql));
  last_event_ = last.value_or(-1);
  HOSTIR_ASSIGN_OR_RETURN(lineage_, load_lineage(*database_));
  if (!lineage_.is_single()) {
    HOSTIR_ASSIGN_OR_RETURN(undone_, find_undone(*database_, limits_, lineage_, last_event_));
  }
  add_run();
  HOSTIR_TRY(add_frames());
  HOSTIR_TRY(add_communicators());
  HOSTIR_TRY(add_ranks());
  HOSTIR_TRY(add_calls());
  HOSTIR_TRY(add_tasks());
  HOSTIR_TRY(add_untimed());
  HOSTIR_TRY(add_collectives());
  HOSTIR_TRY(add_gaps());
  HOSTIR_TRY(add_motion());
  model::Run run = std::move(builder_).finish();
  if (run.motion == model::Motion::kUnknown && !has_states_) {
    const bool returned = waits_for_returned_rank(run);
    // A circle is of queues only, because no host is known to wait: no call behind these can begin.
    if (returned || !diagnose::wait_graph(run).cycle.empty()) {
      run.motion = model::Motion::kStuck;
      run.motion_source = returned ? "a rank that returned without a call in which others wait"
                                   : "calls that wait for each other in a circle";
    }
  }
  return run;
}

Expected<void> ModelReader::for_rows(std::string_view sql,
                                     const std::function<Expected<void>(const Statement&)>& take) {
  HOSTIR_ASSIGN_OR_RETURN(Statement rows, database_->prepare(sql));
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
    if (!more) return {};
    HOSTIR_TRY(take(rows));
  }
}

Expected<void> ModelReader::for_rows_of(
    std::string_view table, std::string_view sql,
    const std::function<Expected<void>(const Statement&)>& take) {
  HOSTIR_ASSIGN_OR_RETURN(const bool there, has_table(*database_, table));
  return there ? for_rows(sql, take) : Expected<void>{};
}

bool ModelReader::shows(int64_t event) const {
  return std::none_of(undone_.begin(), undone_.end(), [&](const EventRange& range) {
    return event >= range.first && event < range.end;
  });
}

InstructionId ModelReader::instruction_id(int64_t index) const {
  const bool known = index >= 0 && index < static_cast<int64_t>(log_.instructions().size());
  return known ? InstructionId(static_cast<uint32_t>(index)) : InstructionId();
}

void ModelReader::add_run() {
  model::Run& run = builder_.run();
  run.producer.name = "hostir " + log_.run().backend;
  run.producer.version = log_.run().tool_version;
  for (const auto& [key, value] : log_.run().properties) {
    if (key == "producer") run.producer.name = value;
    if (key == "producer_version") run.producer.version = value;
    if (key == "motion_source") run.motion_source = value;
    if (key == "motion") motion_ = by_name(value, model::Motion::kOver);
  }
  if (!log_.run().entry.empty()) run.entry = "@" + log_.run().entry;
  run.clocks.push_back(
      {log_.run().virtual_time ? model::ClockKind::kVirtual : model::ClockKind::kUnknown, {}, {}});
  for (const std::string& name : log_.tables().streams) run.streams.push_back({name, {}});
  const auto& logged = log_.instructions();
  run.instructions.assign(logged.begin(), logged.end());
  builder_.expect_ranks(static_cast<Rank>(limits_.rank_count));
}

Expected<void> ModelReader::add_frames() {
  return for_rows_of(
      "frame", "SELECT instruction, function, file, line FROM frame ORDER BY instruction, depth",
      [&](const Statement& row) -> Expected<void> {
        const InstructionId id = instruction_id(row.integer(0));
        if (!id.valid()) return {};
        model::StackFrame frame{row.text(1), {row.text(2), {}}};
        if (!row.is_null(3)) frame.place.line = static_cast<uint32_t>(row.integer(3));
        model::Instruction& instruction = builder_.run().instructions[id.index];
        if (!instruction.place && diagnose::is_user_frame(frame)) instruction.place = frame.place;
        instruction.frames.push_back(std::move(frame));
        return {};
      });
}

Expected<void> ModelReader::add_communicators() {
  struct Fact {
    std::string description;
    std::optional<uint32_t> size;
  };
  std::map<std::pair<int64_t, int64_t>, Fact> facts;
  HOSTIR_TRY(for_rows_of("group_fact",
                         "SELECT communicator, group_index, description, size FROM group_fact",
                         [&](const Statement& row) -> Expected<void> {
                           Fact& fact = facts[{row.integer(0), row.integer(1)}];
                           fact.description = row.text(2);
                           if (!row.is_null(3)) fact.size = static_cast<uint32_t>(row.integer(3));
                           return {};
                         }));
  std::vector<model::Communicator>& out = builder_.run().communicators;
  for (size_t c = 0; c < log_.communicators().size(); ++c) {
    const interp::LogCommunicator& logged = log_.communicators()[c];
    first_group_.push_back(static_cast<uint32_t>(out.size()));
    const std::string description = !logged.axes.empty() ? "comm over " + logged.axes
                                    : logged.groups.empty()
                                        ? std::string()
                                        : "comm groups [" + group_list(logged.groups) + "]";
    for (size_t g = 0; g < std::max<size_t>(1, logged.groups.size()); ++g) {
      model::Communicator& made = out.emplace_back();
      made.name = logged.name;
      made.group = static_cast<uint32_t>(g);
      made.content_key = logged.content_key;
      if (g < logged.groups.size()) made.members = logged.groups[g];
      const auto fact = facts.find({static_cast<int64_t>(c), static_cast<int64_t>(g)});
      made.description = description;
      if (fact == facts.end()) continue;
      if (!fact->second.description.empty()) made.description = fact->second.description;
      made.size = fact->second.size;
    }
  }
  return {};
}

CommunicatorId ModelReader::communicator_id(int64_t comm, int64_t group) const {
  if (comm < 0 || static_cast<size_t>(comm) >= first_group_.size() || group < 0) return {};
  const size_t groups =
      std::max<size_t>(1, log_.communicators()[static_cast<size_t>(comm)].groups.size());
  if (static_cast<size_t>(group) >= groups) return {};
  return CommunicatorId(first_group_[static_cast<size_t>(comm)] + static_cast<uint32_t>(group));
}

Expected<void> ModelReader::add_gaps() {
  constexpr std::array<std::string_view, 6> kKinds = {"rank missing",  "begins late",
                                                      "ends early",    "rows dropped",
                                                      "contradiction", "not translated"};
  if (!log_.run().complete) {
    builder_.gap({model::Gap::Kind::kRowsDropped,
                  {},
                  {},
                  {},
                  "rows of instructions were dropped while the run was logged"});
  }
  return for_rows_of(
      "gap", "SELECT kind, rank, communicator, group_index, sequence, text FROM gap ORDER BY id",
      [&](const Statement& row) -> Expected<void> {
        model::Gap gap;
        const auto kind = std::find(kKinds.begin(), kKinds.end(), row.text_view(0));
        if (kind == kKinds.end()) return {};
        gap.kind = static_cast<model::Gap::Kind>(kind - kKinds.begin());
        if (!row.is_null(1)) gap.rank = static_cast<Rank>(row.integer(1));
        if (!row.is_null(2)) gap.communicator = communicator_id(row.integer(2), row.integer(3));
        if (!row.is_null(4)) gap.sequence = static_cast<uint64_t>(row.integer(4));
        gap.text = row.text(5);
        if (gap.kind == model::Gap::Kind::kBeginsLate && gap.rank && gap.communicator.valid() &&
            gap.sequence)
          builder_.lost_before(*gap.rank, gap.communicator, *gap.sequence);
        builder_.gap(std::move(gap));
        return {};
      });
}

Expected<void> ModelReader::add_motion() {
  model::Run& run = builder_.run();
  if (motion_) {
    run.motion = *motion_;
    return {};
  }
  bool stands = has_states_;
  bool over = true;
  for (const model::RankFacts& facts : run.ranks) {
    if (facts.record == model::RecordState::kUnknown) {  // in another process's log
      over = false;
      continue;
    }
    const bool done =
        facts.state == model::RankState::kDone || facts.state == model::RankState::kNotStarted;
    over = over && done;
    stands = stands && (done || facts.state == model::RankState::kBlocked);
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log_.faults());
  // For a log older than the table of states.
  const bool deadlock =
      !has_states_ && std::any_of(faults.begin(), faults.end(), [](const interp::FaultRecord& f) {
        return f.kind == "deadlock" || f.kind == "timeout";
      });
  if (deadlock || (stands && !pending_.empty())) {
    run.motion = model::Motion::kStuck;
    run.motion_source = "the engine";
  } else if (over && pending_.empty()) {
    run.motion = model::Motion::kOver;
  } else if (log_.run().ending == interp::LogEnding::kRunning) {
    run.motion = model::Motion::kMoving;
  }
  return {};
}

Expected<model::Run> run_of(const LogReader& log, const LogModelOptions& options) {
  return ModelReader(log, options).read();
}

}  // namespace hostir::traces
