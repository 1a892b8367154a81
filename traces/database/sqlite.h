// RAII wrappers for SQLite, and the single place that converts its error codes.
//
// `Database` owns a connection, `Statement` a prepared statement of it (which must die
// first). Connections are used by one thread at a time (NOMUTEX). Errors have the ids
// `log_not_a_log`, `log_damaged`, `log_sql`, `log_cancelled`, `log_busy`, `log_full` and
// `log_io`, all of kind kRuntime but `log_sql`, which is the user's text. Text read from a
// file may be any bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hostir/support/expected.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hostir::traces {

/// Converts a result code; `what` names the operation that failed.
tl::unexpected<Error> sqlite_failure(int code, sqlite3* connection, std::string_view what);

enum class CellType : uint8_t { kNull, kInteger, kReal, kText, kBlob };

class Statement {
 public:
  Statement() = default;

  // Parameters are 1-based, as in SQLite. Text and blobs must live until the next reset.
  void bind_int(int index, int64_t value);
  void bind_real(int index, double value);
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, std::span<const std::byte> value);
  void bind_null(int index);

  /// True if there is a row; false when done.
  Expected<bool> step();
  /// Steps once, expects no row, resets.
  Expected<void> run();
  void reset();

  // Columns are 0-based and belong to the current row.
  int column_count() const;
  std::string column_name(int column) const;
  CellType type(int column) const;
  bool is_null(int column) const { return type(column) == CellType::kNull; }
  int64_t integer(int column) const;
  int64_t integer_or(int column, int64_t fallback) const;
  double real(int column) const;
  std::string text(int column) const;
  std::string_view text_view(int column) const;  // valid until the next step
  std::span<const std::byte> blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : handle_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

class Database {
 public:
  enum class Mode : uint8_t {
    kCreate,     // a new file; the caller removes an existing one first
    kReadWrite,  // an existing file
    kReadOnly,
    kImmutable,  // read-only and without writers: no locks, no -wal
  };
  static Expected<Database> open(const std::string& path, Mode mode);
  static Expected<Database> in_memory();

  Expected<void> execute(const std::string& sql);
  Expected<Statement> prepare(std::string_view sql);
  /// The first column of the first row; nullopt if there is no row or it is NULL.
  Expected<std::optional<int64_t>> query_int(std::string_view sql);

  /// Restricts the connection to reading: no other files, no writes, no settings.
  void restrict_to_select();
  /// Asked every few thousand steps of a query: true ends it with `log_cancelled`. Empty: never.
  void set_cancel(std::function<bool()> cancelled);
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Database(sqlite3* connection) : handle_(connection) {}
  std::unique_ptr<std::function<bool()>> cancelled_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace hostir::traces
