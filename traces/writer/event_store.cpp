#include "traces/writer/event_store.h"

namespace hostir::traces {

using interp::LogEvent;

namespace {

constexpr std::string_view kColumns =
    "id, branch, decision, rank, instruction, loop_path, host_start_ns, host_end_ns, bytes, "
    "waited_ns, stream, task, queued_ns, start_ns, finish_ns, live_bytes, waited_for";

void fill(int64_t* row, const LogEvent& event) {
  row[0] = event.id;
  row[1] = event.branch;
  row[2] = static_cast<int64_t>(event.decision);
  row[3] = event.rank;
  row[4] = event.instruction;
  row[5] = event.loop_path;
  row[6] = event.host_start_ns;
  row[7] = event.host_end_ns;
  row[8] = event.bytes;
  row[9] = event.waited_ns;
  row[10] = event.stream < 0 ? kNull : event.stream;
  row[11] = task_cell(event.task);
  row[12] = event.queued_ns;
  row[13] = event.start_ns;
  row[14] = event.finish_ns;
  row[15] = event.live_bytes < 0 ? kNull : event.live_bytes;
  row[16] = task_cell(event.waited_for);
}

}  // namespace

Expected<EventStore> EventStore::create(Database& database, int64_t plain_events) {
  EventStore store;
  store.plain_left_ = plain_events;
  HOSTIR_ASSIGN_OR_RETURN(store.rows_,
                          RowInserter::create(database, "INSERT", "event_row", kColumns));
  HOSTIR_ASSIGN_OR_RETURN(
      store.late_rows_, RowInserter::create(database, "INSERT OR REPLACE", "event_row", kColumns));
  HOSTIR_ASSIGN_OR_RETURN(
      store.insert_block_,
      database.prepare("INSERT INTO event_block (first_id, last_id, row_count, branch, "
                       "base_decision, base_task, base_ns, begin_ns, end_ns, checksum, rows) "
                       "VALUES (?,?,?,?,?,?,?,?,?,?,?)"));
  return store;
}

Expected<void> EventStore::add(const LogEvent& event) {
  if (plain_left_ > 0) {
    --plain_left_;
    HOSTIR_ASSIGN_OR_RETURN(int64_t * row, rows_.add());
    fill(row, event);
    return {};
  }
  if (!packer_.accepts(event)) HOSTIR_TRY(write_block());
  packer_.add(event);
  if (packer_.row_count() == kEventsPerBlock) return write_block();
  return {};
}

Expected<void> EventStore::add_late(const LogEvent& event) {
  HOSTIR_ASSIGN_OR_RETURN(int64_t * row, late_rows_.add());
  fill(row, event);
  return {};
}

Expected<void> EventStore::finish() {
  HOSTIR_TRY(rows_.finish());
  HOSTIR_TRY(late_rows_.finish());
  return packer_.empty() ? Expected<void>{} : write_block();
}

Expected<void> EventStore::write_block() {
  const BlockHeader& header = packer_.finish();
  Statement& s = insert_block_;
  int i = 0;
  for (const int64_t cell :
       {header.first_id, header.last_id, header.row_count, header.branch, header.base_decision,
        header.base_task, header.base_ns, header.begin_ns, header.end_ns,
        static_cast<int64_t>(header.checksum)}) {
    s.bind_int(++i, cell);
  }
  s.bind_text(++i, packer_.text());
  HOSTIR_TRY(s.run());
  packer_.clear();
  return {};
}

}  // namespace hostir::traces
