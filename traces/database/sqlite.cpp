#include "traces/database/sqlite.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include "hostir/support/characters.h"

namespace hostir::traces {
namespace {

const char* error_id(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "log_not_a_log";
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
      return "log_damaged";
    case SQLITE_ERROR:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return "log_sql";
    case SQLITE_INTERRUPT:
      return "log_cancelled";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "log_busy";
    case SQLITE_FULL:
      return "log_full";
    default:
      return "log_io";
  }
}

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Database::Mode::kReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Database::Mode::kReadOnly:
    case Database::Mode::kImmutable:
      return SQLITE_OPEN_READONLY;
  }
  return SQLITE_OPEN_READONLY;
}

/// A `file:` URI for any path: percent-encodes all special characters.
std::string uri_of(const std::string& path, std::string_view parameters) {
  std::string uri = "file:";
  for (const char c : path) {
    if (is_word_char(c) || c == '/' || c == '.' || c == '-') {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri.append(parameters);
}

int authorize(void*, int action, const char* name, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return SQLITE_OK;
    case SQLITE_PRAGMA: {
      const std::string_view pragma = name != nullptr ? name : "";
      const bool reads = pragma == "table_info" || pragma == "table_xinfo" ||
                         pragma == "table_list" || pragma == "index_list" ||
                         pragma == "index_info" || pragma == "data_version" ||
                         pragma == "application_id" || pragma == "user_version" ||
                         pragma == "quick_check" || pragma == "integrity_check";
      return reads ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

int progress(void* argument) { return (*static_cast<std::function<bool()>*>(argument))() ? 1 : 0; }

}  // namespace

tl::unexpected<Error> sqlite_failure(int code, sqlite3* connection, std::string_view what) {
  const char* text = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if ((code & 0xff) == SQLITE_CORRUPT) {
    const char* path = connection != nullptr ? sqlite3_db_filename(connection, "main") : nullptr;
    return fail(
        ErrorKind::kRuntime, "log_damaged",
        fmt::format("\"{}\" was cut or changed after it was written: some of its pages make "
                    "no sense (SQLite: {})",
                    path != nullptr ? path : what, text));
  }
  return fail(ErrorKind::kRuntime, error_id(code), fmt::format("{}: {}", what, text));
}

// ---- statements

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind_int(int index, int64_t value) {
  sqlite3_bind_int64(handle_.get(), index, value);
}
void Statement::bind_real(int index, double value) {
  sqlite3_bind_double(handle_.get(), index, value);
}
void Statement::bind_text(int index, std::string_view value) {
  sqlite3_bind_text64(handle_.get(), index, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}
void Statement::bind_blob(int index, std::span<const std::byte> value) {
  if (value.empty()) {
    sqlite3_bind_zeroblob(handle_.get(), index, 0);
  } else {
    sqlite3_bind_blob64(handle_.get(), index, value.data(), value.size(), SQLITE_STATIC);
  }
}
void Statement::bind_null(int index) { sqlite3_bind_null(handle_.get(), index); }

Expected<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_failure(code, sqlite3_db_handle(handle_.get()), "log");
}

Expected<void> Statement::run() {
  const int code = sqlite3_step(handle_.get());
  sqlite3_reset(handle_.get());
  if (code == SQLITE_DONE || code == SQLITE_ROW) return {};
  return sqlite_failure(code, sqlite3_db_handle(handle_.get()), "writing the log");
}

void Statement::reset() { sqlite3_reset(handle_.get()); }

int Statement::column_count() const { return sqlite3_column_count(handle_.get()); }

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(handle_.get(), column);
  return name != nullptr ? name : "";
}

CellType Statement::type(int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_INTEGER:
      return CellType::kInteger;
    case SQLITE_FLOAT:
      return CellType::kReal;
    case SQLITE_TEXT:
      return CellType::kText;
    case SQLITE_BLOB:
      return CellType::kBlob;
    default:
      return CellType::kNull;
  }
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
int64_t Statement::integer_or(int column, int64_t fallback) const {
  return is_null(column) ? fallback : integer(column);
}
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string_view Statement::text_view(int column) const {
  // column_text may convert the value; ask for its length afterwards.
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  if (text == nullptr) return {};
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}
std::string Statement::text(int column) const { return std::string(text_view(column)); }

std::span<const std::byte> Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  if (data == nullptr) return {};
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const std::byte*>(data), static_cast<size_t>(size)};
}

// ---- connections

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Expected<Database> Database::open(const std::string& path, Mode mode) {
  sqlite3* connection = nullptr;
  const std::string uri =
      uri_of(path, mode == Mode::kImmutable ? std::string_view("?immutable=1") : "");
  const int code = sqlite3_open_v2(
      uri.c_str(), &connection, open_flags(mode) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection);
  if (code != SQLITE_OK) {
    return sqlite_failure(code, connection, fmt::format("cannot open \"{}\"", path));
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, 5000);
  // Schemas stay trusted: the view `event` needs JSON functions, which SQLite 3.40 does not allow
  // in untrusted ones. The other functions available to a file's views have no side effects.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return database;
}

Expected<Database> Database::in_memory() {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &connection,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(connection);
  if (code != SQLITE_OK) return sqlite_failure(code, connection, "in-memory database");
  return database;
}

Expected<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_failure(code, handle_.get(), "log");
  return {};
}

Expected<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, &tail);
  if (code != SQLITE_OK) return sqlite_failure(code, handle_.get(), "log");
  if (statement == nullptr) return fail(ErrorKind::kRuntime, "log_sql", "an empty statement");
  Statement first(statement);
  const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  if (rest.find_first_not_of(" \t\r\n;") == std::string_view::npos) return first;
  // Only comments may follow; a second statement or an error must not be silently ignored.
  sqlite3_stmt* second = nullptr;
  const int more = sqlite3_prepare_v2(handle_.get(), rest.data(), static_cast<int>(rest.size()),
                                      &second, nullptr);
  sqlite3_finalize(second);
  if (more == SQLITE_OK && second == nullptr) return first;
  return fail(ErrorKind::kRuntime, "log_sql",
              "one statement at a time; after the first comes: " + std::string(rest));
}

Expected<std::optional<int64_t>> Database::query_int(std::string_view sql) {
  HOSTIR_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  HOSTIR_ASSIGN_OR_RETURN(const bool row, statement.step());
  if (!row || statement.is_null(0)) return std::nullopt;
  return statement.integer(0);
}

void Database::restrict_to_select() { sqlite3_set_authorizer(handle_.get(), &authorize, nullptr); }

void Database::set_cancel(std::function<bool()> cancelled) {
  constexpr int kSteps = 4000;  // virtual machine steps, about 50 us
  if (!cancelled) {
    sqlite3_progress_handler(handle_.get(), 0, nullptr, nullptr);
    cancelled_.reset();
    return;
  }
  cancelled_ = std::make_unique<std::function<bool()>>(std::move(cancelled));
  sqlite3_progress_handler(handle_.get(), kSteps, &progress, cancelled_.get());
}

}  // namespace hostir::traces
