#include "traces/database/log_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "hostir/support/hash.h"
#include "traces/database/schema.h"

namespace hostir::traces {
namespace {

constexpr const char* kWritingPragmas =
    "PRAGMA page_size = 16384;\n"
    "PRAGMA journal_mode = WAL;\n"
    "PRAGMA synchronous = NORMAL;\n"
    "PRAGMA cache_size = -131072;\n"
    "PRAGMA temp_store = MEMORY;\n"
    "PRAGMA wal_autocheckpoint = 4000;\n";

/// True if the file may be replaced: missing, empty, or a log.
bool is_replaceable(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return true;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  if (std::filesystem::file_size(path, error) == 0) return true;
  auto database = Database::open(path, Database::Mode::kReadOnly);
  if (!database) return false;
  const auto id = database->query_int("PRAGMA application_id");
  return id && id->value_or(0) == kApplicationId;
}

void remove_log(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::error_code error;
    std::filesystem::remove(path + suffix, error);
  }
}

uint64_t row_digest(const Statement& row, int columns, std::string& buffer) {
  size_t used = 0;  // bytes of `buffer`, which is reused: this runs for every row
  const auto append = [&](const void* data, size_t size) {
    if (buffer.size() < used + size) buffer.resize(2 * (used + size) + 256);
    std::copy_n(static_cast<const char*>(data), size, buffer.data() + used);
    used += size;
  };
  for (int i = 0; i < columns; ++i) {
    const CellType type = row.type(i);
    const char tag = static_cast<char>(type);
    append(&tag, sizeof tag);
    if (type == CellType::kInteger) {
      const int64_t value = row.integer(i);
      append(&value, sizeof value);
    } else if (type == CellType::kReal) {
      const double value = row.real(i);
      append(&value, sizeof value);
    } else if (type != CellType::kNull) {
      const std::string_view text = row.text_view(i);
      const std::span<const std::byte> bytes = row.blob(i);
      const size_t size = type == CellType::kText ? text.size() : bytes.size();
      append(&size, sizeof size);
      type == CellType::kText ? append(text.data(), size) : append(bytes.data(), size);
    }
  }
  return hash_of(std::string_view(buffer).substr(0, used));
}

}  // namespace

Expected<Database> create_log_file(const std::string& path,
                                   const std::function<Expected<void>(Database&)>& describe) {
  if (!is_replaceable(path)) {
    return fail(ErrorKind::kRuntime, "log_exists",
                fmt::format("\"{}\" exists and is not a log; it is left alone", path));
  }
  const std::string fresh = path + ".new";
  remove_log(fresh);
  {
    HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(fresh, Database::Mode::kCreate));
    HOSTIR_TRY(database.execute(kWritingPragmas));
    HOSTIR_TRY(database.execute("BEGIN;\n" + schema_sql()));
    HOSTIR_TRY(describe(database));
    HOSTIR_TRY(database.execute("COMMIT"));
  }  // the last connection leaves one file, without `-wal`
  remove_log(path);
  std::error_code error;
  std::filesystem::rename(fresh, path, error);
  if (error) {
    return fail(ErrorKind::kRuntime, "log_io",
                fmt::format("cannot rename \"{}\" to \"{}\": {}", fresh, path, error.message()));
  }
  HOSTIR_ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Mode::kReadWrite));
  HOSTIR_TRY(database.execute(kWritingPragmas));
  return database;
}

Expected<void> settle_log_file(Database& database) {
  // Both fail with "busy" while a reader has the file open; the data are safe in either form.
  (void)database.execute("PRAGMA busy_timeout = 100");
  (void)database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  (void)database.execute("PRAGMA journal_mode = DELETE");
  return {};
}

Expected<bool> has_table(Database& database, std::string_view name) {
  HOSTIR_ASSIGN_OR_RETURN(
      const auto found,
      database.query_int(
          fmt::format("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{}'", name)));
  return found.has_value();
}

Expected<std::vector<TableDigest>> table_digests(Database& database) {
  std::vector<TableDigest> all;
  std::string buffer;
  for (const Table& table : schema_tables()) {
    if (table.name == "table_digest") continue;
    HOSTIR_ASSIGN_OR_RETURN(const bool exists, has_table(database, table.name));
    if (!exists) continue;  // an older log
    HOSTIR_ASSIGN_OR_RETURN(Statement rows,
                            database.prepare(fmt::format("SELECT * FROM {}", table.name)));
    TableDigest digest{std::string(table.name), 0, 0};
    const int columns = rows.column_count();
    while (true) {
      HOSTIR_ASSIGN_OR_RETURN(const bool more, rows.step());
      if (!more) break;
      ++digest.row_count;
      digest.digest += row_digest(rows, columns, buffer);
    }
    all.push_back(std::move(digest));
  }
  return all;
}

Expected<void> write_table_digests(Database& database) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<TableDigest> digests, table_digests(database));
  HOSTIR_ASSIGN_OR_RETURN(Statement s,
                          database.prepare("INSERT OR REPLACE INTO table_digest VALUES (?, ?, ?)"));
  for (const TableDigest& digest : digests) {
    s.bind_text(1, digest.name);
    s.bind_int(2, digest.row_count);
    s.bind_int(3, static_cast<int64_t>(digest.digest));
    HOSTIR_TRY(s.run());
  }
  return {};
}

}  // namespace hostir::traces
