#include "traces/writer/row_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostir/support/glob.h"
#include "hostir/support/json_text.h"
#include "hostir/support/unix_time.h"
#include "traces/database/compression.h"
#include "traces/database/log_file.h"
#include "traces/database/schema.h"

namespace hostir::traces {

using interp::kUnknownNs;

namespace {

constexpr std::string_view kCollectiveColumns =
    "event, branch, rank, instruction, communicator, sequence, peer, bytes, arrival_ns, start_ns, "
    "finish_ns";

}  // namespace

RowWriter::RowWriter(Database database)
    : database_(std::move(database)),
      assembler_([this](const AssembledEvent& assembled, EventAssembler::Delivery delivery) {
        deliver(assembled, delivery);
      }) {}

Expected<std::unique_ptr<RowWriter>> RowWriter::create(const std::string& path,
                                                       const RunDescription& run,
                                                       const TraceOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(
      Database database, create_log_file(path, [&](Database& fresh) -> Expected<void> {
        HOSTIR_TRY(write_run_rows(fresh, run, {options.inputs_max_bytes, options.value_mode}));
        HOSTIR_TRY(write_input_rows(fresh, run, options.inputs_max_bytes));
        HOSTIR_TRY(write_instruction_rows(fresh, run.program));
        HOSTIR_TRY(write_kernel_rows(fresh, run.program, run.kernels));
        HOSTIR_TRY(write_tensor_rows(fresh, run.program));
        return write_collective_site_rows(fresh, run.program);
      }));
  std::unique_ptr<RowWriter> writer(new RowWriter(std::move(database)));
  HOSTIR_TRY(writer->prepare(run, options));
  return writer;
}

namespace {

// See LogTables::group_streams.
std::vector<int32_t> group_streams(const ProgramDescription& program) {
  constexpr interp::CodeIndex kNoMember = ~interp::CodeIndex{0};
  std::vector<interp::CodeIndex> first(program.instructions.size(), kNoMember);
  for (const CollectiveSite& site : program.sites) {
    const auto group = static_cast<size_t>(site.group_instruction);
    if (site.group_instruction >= 0 && group < first.size())
      first[group] = std::min(first[group], site.instruction);
  }
  std::vector<int32_t> streams(first.size(), -1);
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] < program.instructions.size()) streams[i] = program.instructions[first[i]].stream;
  }
  return streams;
}

}  // namespace

Expected<void> RowWriter::prepare(const RunDescription& run, const TraceOptions& options) {
  program_ = run.program;
  data_globs_ = options.data_globs;
  HOSTIR_ASSIGN_OR_RETURN(events_, EventStore::create(database_, options.plain_events));
  HOSTIR_ASSIGN_OR_RETURN(
      timeline_, TimelineStore::create(database_, static_cast<size_t>(run.program.rank_count),
                                       run.program.streams.size(), group_streams(run.program)));
  HOSTIR_ASSIGN_OR_RETURN(
      collectives_, RowInserter::create(database_, "INSERT", "collective_row", kCollectiveColumns));
  HOSTIR_ASSIGN_OR_RETURN(
      late_collectives_,
      RowInserter::create(database_, "INSERT OR REPLACE", "collective_row", kCollectiveColumns));
  HOSTIR_ASSIGN_OR_RETURN(loop_paths_,
                          RowInserter::create(database_, "INSERT OR REPLACE", "loop_path",
                                              "id, parent, instruction, iteration"));
  HOSTIR_ASSIGN_OR_RETURN(
      insert_value_,
      database_.prepare("INSERT INTO value (event, branch, rank, tensor, allocation, operand, "
                        "digest, min, max, mean, nan_count, inf_count, data) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(insert_data_,
                          database_.prepare("INSERT OR IGNORE INTO tensor_data VALUES (?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      insert_decision_,
      database_.prepare("INSERT INTO decision (number, branch, kind, rank, event_count, detail) "
                        "VALUES (?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      insert_fault_, database_.prepare("INSERT INTO fault (kind, sentence, ranks, instructions, "
                                       "notes, event_count) VALUES (?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      insert_call_,
      database_.prepare("INSERT OR REPLACE INTO call (event, instruction, rank, root, total_elems, "
                        "row_elems, fingerprint) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(
      insert_state_,
      database_.prepare("INSERT OR REPLACE INTO rank_state (rank, state, record, instruction, "
                        "loop_path, waits_for, host_ns, decision, branch) "
                        "VALUES (?, ?, 'whole', ?, ?, ?, ?, ?, ?)"));
  return database_.execute("BEGIN");
}

Expected<void> RowWriter::take_error() {
  if (error_) return {};
  return std::exchange(error_, Expected<void>{});
}

Expected<void> RowWriter::kernels(const std::vector<KernelDescription>& kernels) {
  return write_kernel_rows(database_, program_, kernels);
}

Expected<void> RowWriter::property(const std::string& key, const std::string& value) {
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          database_.prepare("INSERT OR REPLACE INTO property VALUES (?, ?)"));
  s.bind_text(1, key);
  s.bind_text(2, value);
  return s.run();
}

Expected<void> RowWriter::called(const interp::CallRecord& record) {
  const auto rank = static_cast<size_t>(std::max(record.rank, 0));
  if (calls_.size() <= rank) calls_.resize(rank + 1, {interp::kNoRank});
  calls_[rank] = record;
  return {};
}

// Writes a row only if the call differs from the instruction's last one.
Expected<void> RowWriter::write_call(const interp::IssuedRecord& record) {
  const auto rank = static_cast<size_t>(std::max(record.rank, 0));
  if (rank >= calls_.size() || calls_[rank].rank == interp::kNoRank) return {};
  const interp::CallRecord call = std::exchange(calls_[rank], {interp::kNoRank});
  const auto [known, added] = written_calls_.try_emplace({record.code, record.rank}, call);
  if (!added && known->second == call) return {};
  known->second = call;
  Statement& s = insert_call_;
  s.bind_int(1, event_count());
  s.bind_int(2, record.code);
  s.bind_int(3, record.rank);
  call.root >= 0 ? s.bind_int(4, call.root) : s.bind_null(4);
  call.total_elems >= 0 ? s.bind_int(5, call.total_elems) : s.bind_null(5);
  call.row_elems >= 0 ? s.bind_int(6, call.row_elems) : s.bind_null(6);
  s.bind_int(7, static_cast<int64_t>(call.fingerprint));
  return s.run();
}

Expected<void> RowWriter::issued(const interp::IssuedRecord& record) {
  const std::vector<InstructionDescription>& known = program_.instructions;
  if (record.code < known.size() && known[record.code].op_class == OpClass::kCommunication) {
    if (record.comm != interp::kNoComm) HOSTIR_TRY(write_call(record));
    assembler_.issued(record);
  } else {
    interp::IssuedRecord plain = record;
    plain.comm = interp::kNoComm;
    assembler_.issued(plain);
  }
  return take_error();
}

Expected<void> RowWriter::rank_state(const interp::RankStateRecord& record) {
  Statement& s = insert_state_;
  s.bind_int(1, record.rank);
  s.bind_text(2, model::name(record.state));
  s.bind_int(3, record.code);
  s.bind_int(4, record.loop_path);
  record.waits_for != interp::kNoTask
      ? s.bind_int(5, static_cast<int64_t>(interp::task_number(record.waits_for)))
      : s.bind_null(5);
  s.bind_int(6, record.host_ns);
  s.bind_int(7, static_cast<int64_t>(record.decision));
  s.bind_int(8, record.branch);
  return s.run();
}

Expected<void> RowWriter::finished(const interp::FinishedRecord& record) {
  assembler_.finished(record);
  return take_error();
}

void RowWriter::deliver(const AssembledEvent& assembled, EventAssembler::Delivery delivery) {
  const bool late = delivery == EventAssembler::Delivery::kLate;
  Expected<void> result = late ? events_.add_late(assembled.event) : events_.add(assembled.event);
  if (result) {
    result = late ? timeline_.add_late(assembled.event) : timeline_.add(assembled.event);
  }
  if (result && assembled.collective.comm != interp::kNoComm) {
    result = insert_collective(late ? late_collectives_ : collectives_, assembled);
  }
  if (!result && error_) error_ = std::move(result);
}

Expected<void> RowWriter::insert_collective(RowInserter& rows, const AssembledEvent& assembled) {
  const interp::LogEvent& event = assembled.event;
  const CollectivePart& part = assembled.collective;
  HOSTIR_ASSIGN_OR_RETURN(int64_t * row, rows.add());
  row[0] = event.id;
  row[1] = event.branch;
  row[2] = event.rank;
  row[3] = event.instruction;
  row[4] = part.comm;
  row[5] = static_cast<int64_t>(part.sequence);
  row[6] = part.peer < 0 ? kNull : part.peer;
  row[7] = event.bytes;
  row[8] = part.arrival_ns;
  row[9] = part.start_ns;
  row[10] = part.finish_ns;
  return {};
}

Expected<void> RowWriter::loop_path(const LoopPathRecord& record) {
  HOSTIR_ASSIGN_OR_RETURN(int64_t * row, loop_paths_.add());
  row[0] = record.id;
  row[1] = record.parent;
  row[2] = record.loop;
  row[3] = record.iteration;
  return {};
}

Expected<void> RowWriter::insert_data(uint64_t digest, std::span<const std::byte> data) {
  const std::vector<std::byte> packed = compressed(data);
  insert_data_.bind_int(1, static_cast<int64_t>(digest));
  insert_data_.bind_int(2, static_cast<int64_t>(data.size()));
  insert_data_.bind_blob(3, packed);
  return insert_data_.run();
}

bool RowWriter::keeps_data(int64_t tensor) const {
  const std::string_view name = program_.tensor_name(tensor);
  for (const std::string& glob : data_globs_) {
    if (glob_match(glob, name)) return true;
  }
  return data_globs_.empty();
}

Expected<void> RowWriter::value(const ValueRecord& record, std::span<const std::byte> data) {
  const EventAssembler::TaskInfo* task = assembler_.find_task(record.task);
  const int64_t tensor = task != nullptr ? program_.tensor_written(task->code, record.operand) : -1;
  if (!keeps_data(tensor)) data = {};
  if (!data.empty()) HOSTIR_TRY(insert_data(record.digest, data));
  Statement& s = insert_value_;
  task != nullptr ? s.bind_int(1, task->event) : s.bind_null(1);
  s.bind_int(2, task != nullptr ? task->branch : 0);
  s.bind_int(3, record.rank);
  tensor >= 0 ? s.bind_int(4, tensor) : s.bind_null(4);
  s.bind_int(5, record.allocation);
  s.bind_int(6, record.operand);
  s.bind_int(7, static_cast<int64_t>(record.digest));
  if (record.has_stats != 0) {
    s.bind_real(8, record.min);
    s.bind_real(9, record.max);
    s.bind_real(10, record.mean);
    s.bind_int(11, record.nan_count);
    s.bind_int(12, record.inf_count);
  } else {
    for (int i = 8; i <= 12; ++i) s.bind_null(i);
  }
  data.empty() ? s.bind_null(13) : s.bind_int(13, static_cast<int64_t>(record.digest));
  return s.run();
}

Expected<void> RowWriter::decision(const interp::DecisionRecord& record) {
  Statement& s = insert_decision_;
  s.bind_int(1, static_cast<int64_t>(record.number));
  s.bind_int(2, record.branch);
  s.bind_text(3, record.name(record.kind));
  record.rank != interp::kNoRank ? s.bind_int(4, record.rank) : s.bind_null(4);
  s.bind_int(5, event_count());
  s.bind_text(6, record.detail);
  return s.run();
}

Expected<void> RowWriter::fault(const interp::FaultRecord& record) {
  if (first_fault_.empty()) first_fault_ = record.kind;
  const std::string ranks = json_text(nlohmann::json(record.ranks));
  const std::string instructions = json_text(nlohmann::json(record.instructions));
  const std::string notes = json_text(nlohmann::json(record.notes));
  Statement& s = insert_fault_;
  s.bind_text(1, record.kind);
  s.bind_text(2, record.sentence);
  s.bind_text(3, ranks);
  s.bind_text(4, instructions);
  s.bind_text(5, notes);
  s.bind_int(6, event_count());
  return s.run();
}

Expected<void> RowWriter::commit(Extent extent) {
  if (closed_) return {};
  if (extent == Extent::kAll) assembler_.drain();
  HOSTIR_TRY(take_error());
  HOSTIR_TRY(events_.finish());
  HOSTIR_TRY(collectives_.finish());
  HOSTIR_TRY(late_collectives_.finish());
  HOSTIR_TRY(loop_paths_.finish());
  return database_.execute("COMMIT; BEGIN");
}

Expected<void> RowWriter::close(std::string outcome, uint64_t dropped) {
  HOSTIR_TRY(commit(Extent::kAll));
  HOSTIR_TRY(timeline_.finish());
  if (outcome.empty()) outcome = first_fault_.empty() ? "ok" : first_fault_;
  {
    HOSTIR_ASSIGN_OR_RETURN(
        Statement s, database_.prepare("UPDATE run SET ended_unix_ns = ?, outcome = ?, complete = "
                                       "?, dropped_events = ?, event_count = ?"));
    s.bind_int(1, unix_time_ns());
    s.bind_text(2, outcome);
    s.bind_int(3, dropped == 0 ? 1 : 0);
    s.bind_int(4, static_cast<int64_t>(dropped));
    s.bind_int(5, event_count());
    HOSTIR_TRY(s.run());
  }
  HOSTIR_TRY(database_.execute(index_sql()));
  HOSTIR_TRY(write_table_digests(database_));
  HOSTIR_TRY(database_.execute("COMMIT"));
  closed_ = true;
  return settle_log_file(database_);
}

}  // namespace hostir::traces
