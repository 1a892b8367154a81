#include "traces/computed/computed_tables.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <memory>
#include <utility>

#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogCell;

namespace {

Expected<ComputedRows> list_of_tables(const LogReader&, const std::stop_token&);

constexpr ComputedTable kComputedTables[] = {
    {"computed_tables", "These tables.", "name, doc", list_of_tables},
    {"collectives",
     "Each meeting once: how many members issued it (arrived), of how many, skew, time, bandwidth; "
     "in the order of their starts.",
     "event, communicator, group_index, sequence, kind, reduction, dtype, count, bytes, arrived, "
     "member_count, first_arrival_ns, last_arrival_ns, skew_ns, start_ns, finish_ns, duration_ns, "
     "algbw_bytes_per_s, busbw_bytes_per_s, address, group_address",
     collectives},
    {"instruction_times",
     "How long each instruction took on each host and stream. An asynchronous one is on both: "
     "issued by the host, executed on the stream.",
     "instruction, rank, track, times, total_ns, mean_ns, median_ns, least_ns, most_ns, "
     "deviation_ns, longest_event",
     instruction_times},
    {"exposed_communication",
     "Per rank: time in kernels, in communication, and in communication without a kernel.",
     "rank, compute_ns, communication_ns, exposed_ns, overlapped_ns, idle_ns",
     exposed_communication},
    {"peak_memory", "Per rank: most live bytes, and the event that reached them.",
     "rank, peak_bytes, time_ns, event", peak_memory},
    {"slowest_waits",
     "The 1,000 longest waits of hosts, of streams for events, and of collectives for members.",
     "event, rank, instruction, waited_ns, reason, waited_for_event", slowest_waits},
};

Expected<ComputedRows> list_of_tables(const LogReader&, const std::stop_token&) {
  ComputedRows::Cells rows;
  for (const ComputedTable& table : kComputedTables) {
    rows.push_back({LogCell(std::string(table.name)), LogCell(std::string(table.doc))});
  }
  return rows;
}

struct TableSource {
  const ComputedTable* table;
  const LogReader* log;
  std::stop_token stop;
};

// SQLite's part of an object comes first.
struct SqliteTable {
  sqlite3_vtab base{};
  const TableSource* source = nullptr;
};
struct SqliteCursor {
  sqlite3_vtab_cursor base{};
  ComputedRows rows;
  size_t at = 0;
};

int connect_table(sqlite3* connection, void* source, int, const char* const*, sqlite3_vtab** out,
                  char**) {
  const auto* from = static_cast<const TableSource*>(source);
  const std::string sql = fmt::format("CREATE TABLE x({})", from->table->columns);
  const int code = sqlite3_declare_vtab(connection, sql.c_str());
  if (code != SQLITE_OK) return code;
  auto table = std::make_unique<SqliteTable>();
  table->source = from;
  *out = &table.release()->base;
  return SQLITE_OK;
}
int disconnect_table(sqlite3_vtab* table) {
  const std::unique_ptr<SqliteTable> owned(reinterpret_cast<SqliteTable*>(table));
  return SQLITE_OK;
}
// Every use reads the whole table; a join reads it once for each row of the outer loop, so it is
// made expensive enough to become the outer one.
int plan_table(sqlite3_vtab*, sqlite3_index_info* info) {
  constexpr double kCost = 1e9;
  info->estimatedCost = kCost;
  info->estimatedRows = 1000;
  return SQLITE_OK;
}
int open_table(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = &std::make_unique<SqliteCursor>().release()->base;
  return SQLITE_OK;
}
int close_table(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<SqliteCursor> owned(reinterpret_cast<SqliteCursor*>(cursor));
  return SQLITE_OK;
}
int first_row(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  auto* cursor = reinterpret_cast<SqliteCursor*>(base);
  const TableSource& source = *reinterpret_cast<SqliteTable*>(base->pVtab)->source;
  source.log->report_progress(0, 0);
  auto rows = source.table->rows(*source.log, source.stop);
  source.log->report_progress(0, 0);
  if (!rows) {
    if (rows.error().diagnostics[0].id == "log_cancelled") return SQLITE_INTERRUPT;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", rows.error().message().c_str());
    return SQLITE_ERROR;
  }
  cursor->rows = std::move(*rows);
  cursor->at = 0;
  return SQLITE_OK;
}
int next_row(sqlite3_vtab_cursor* base) {
  ++reinterpret_cast<SqliteCursor*>(base)->at;
  return SQLITE_OK;
}
int rows_ended(sqlite3_vtab_cursor* base) {
  const auto* cursor = reinterpret_cast<SqliteCursor*>(base);
  return cursor->at >= cursor->rows.count() ? 1 : 0;
}
int row_number(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(reinterpret_cast<SqliteCursor*>(base)->at);
  return SQLITE_OK;
}

struct CellResult {
  sqlite3_context* context;
  void operator()(std::monostate) const { sqlite3_result_null(context); }
  void operator()(int64_t value) const { sqlite3_result_int64(context, value); }
  void operator()(double value) const { sqlite3_result_double(context, value); }
  void operator()(const std::string& value) const { text(value); }
  void operator()(const interp::LogBlob& value) const { text(value.bytes); }
  void text(const std::string& value) const {
    sqlite3_result_text64(context, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
};
int row_cell(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  const auto* cursor = reinterpret_cast<SqliteCursor*>(base);
  std::visit(CellResult{context}, cursor->rows.cell(cursor->at, static_cast<size_t>(index)));
  return SQLITE_OK;
}

// Without `xCreate` the table needs no CREATE: it exists under the module's name.
const sqlite3_module& table_module() {
  static const sqlite3_module kModule = [] {
    sqlite3_module m{};
    m.xConnect = connect_table;
    m.xDisconnect = disconnect_table;
    m.xBestIndex = plan_table;
    m.xOpen = open_table;
    m.xClose = close_table;
    m.xFilter = first_row;
    m.xNext = next_row;
    m.xEof = rows_ended;
    m.xColumn = row_cell;
    m.xRowid = row_number;
    return m;
  }();
  return kModule;
}

}  // namespace

std::span<const ComputedTable> computed_tables() { return kComputedTables; }

Expected<void> register_computed_tables(Database& database, const LogReader& log,
                                        std::stop_token stop) {
  for (const ComputedTable& table : kComputedTables) {
    auto source = std::make_unique<TableSource>(TableSource{&table, &log, stop});
    const int code = sqlite3_create_module_v2(
        database.handle(), std::string(table.name).c_str(), &table_module(), source.release(),
        [](void* owned) {
          const std::unique_ptr<TableSource> dies(static_cast<TableSource*>(owned));
        });
    if (code != SQLITE_OK) return sqlite_failure(code, database.handle(), "log");
  }
  // SQLite declares a table at its first use, which a connection restricted to SELECT forbids.
  sqlite3_set_authorizer(database.handle(), nullptr, nullptr);
  for (const ComputedTable& table : kComputedTables)
    HOSTIR_TRY(database.prepare(fmt::format("SELECT 1 FROM {}", table.name)));
  database.restrict_to_select();
  return {};
}

}  // namespace hostir::traces
