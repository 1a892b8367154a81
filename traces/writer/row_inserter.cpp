#include "traces/writer/row_inserter.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>

namespace hostir::traces {

/// The virtual table `rows`: read once, front to back.
struct RowInserter::Module {
  struct Table {
    sqlite3_vtab base;  // must be first: SQLite casts
    const Buffer* buffer;
  };
  struct Cursor {
    sqlite3_vtab_cursor base;  // must be first: SQLite casts
    const Buffer* buffer;
    size_t row;
  };
  static Cursor* cursor(sqlite3_vtab_cursor* base) { return reinterpret_cast<Cursor*>(base); }

  static int connect(sqlite3* connection, void* buffer, int, const char* const*, sqlite3_vtab** out,
                     char**) {
    const auto* rows = static_cast<const Buffer*>(buffer);
    std::string declaration = "CREATE TABLE rows (c0";
    for (size_t i = 1; i < rows->column_count; ++i) declaration += fmt::format(", c{}", i);
    const int code = sqlite3_declare_vtab(connection, (declaration + ")").c_str());
    if (code == SQLITE_OK) *out = &(new Table{{}, rows})->base;  // disconnect() deletes
    return code;
  }
  static int disconnect(sqlite3_vtab* table) {
    delete reinterpret_cast<Table*>(table);
    return SQLITE_OK;
  }
  static int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }
  static int open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
    *out = &(new Cursor{{}, reinterpret_cast<Table*>(table)->buffer, 0})->base;  // close() deletes
    return SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* at) {
    delete cursor(at);
    return SQLITE_OK;
  }
  static int filter(sqlite3_vtab_cursor* at, int, const char*, int, sqlite3_value**) {
    cursor(at)->row = 0;
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* at) {
    ++cursor(at)->row;
    return SQLITE_OK;
  }
  static int at_end(sqlite3_vtab_cursor* at) {
    return cursor(at)->row >= cursor(at)->buffer->filled ? 1 : 0;
  }
  static int column(sqlite3_vtab_cursor* at, sqlite3_context* result, int index) {
    const Buffer& rows = *cursor(at)->buffer;
    const int64_t cell =
        rows.cells[cursor(at)->row * rows.column_count + static_cast<size_t>(index)];
    if (cell != kNull) sqlite3_result_int64(result, cell);
    return SQLITE_OK;
  }
  static int row_id(sqlite3_vtab_cursor* at, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(cursor(at)->row);
    return SQLITE_OK;
  }

  static const sqlite3_module* functions() {
    static const sqlite3_module kFunctions = [] {
      sqlite3_module m{};
      m.xConnect = &connect;  // without xCreate: usable without CREATE VIRTUAL TABLE
      m.xBestIndex = &best_index;
      m.xDisconnect = &disconnect;
      m.xOpen = &open;
      m.xClose = &close;
      m.xFilter = &filter;
      m.xNext = &next;
      m.xEof = &at_end;
      m.xColumn = &column;
      m.xRowid = &row_id;
      return m;
    }();
    return &kFunctions;
  }
};

Expected<RowInserter> RowInserter::create(Database& database, std::string_view verb,
                                          std::string_view table, std::string_view columns) {
  RowInserter inserter;
  inserter.buffer_ = std::make_unique<Buffer>();
  Buffer& buffer = *inserter.buffer_;
  buffer.column_count = static_cast<size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
  buffer.cells.resize(buffer.column_count * kRowsPerStatement);

  // A unique name per inserter: two may fill one table.
  const std::string rows =
      fmt::format("rows_{}_{}", table, verb == "INSERT" ? "insert" : "replace");
  const int code =
      sqlite3_create_module(database.handle(), rows.c_str(), Module::functions(), &buffer);
  if (code != SQLITE_OK) return sqlite_failure(code, database.handle(), "writing the log");
  HOSTIR_ASSIGN_OR_RETURN(inserter.insert_,
                          database.prepare(fmt::format("{} INTO {} ({}) SELECT * FROM {}", verb,
                                                       table, columns, rows)));
  return inserter;
}

Expected<int64_t*> RowInserter::add() {
  if (buffer_->filled == kRowsPerStatement) HOSTIR_TRY(finish());
  return &buffer_->cells[buffer_->column_count * buffer_->filled++];
}

Expected<void> RowInserter::finish() {
  if (buffer_->filled == 0) return {};
  auto result = insert_.run();
  buffer_->filled = 0;
  return result;
}

}  // namespace hostir::traces
