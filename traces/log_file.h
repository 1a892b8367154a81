// The file around the tables: making it, closing it, digests of its tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/sqlite.h"

namespace hostir::traces {

/// A new log with the current schema and what `describe` writes, ready for fast writing. It is made
/// beside `path` and renamed once it can be opened: a writer that is killed before leaves `path` as
/// it was, and `path` + ".new" behind. Then an older log at `path` is replaced. Errors:
/// `log_exists` where the path holds something that is not a log; those of `describe`.
Expected<Database> create_log_file(const std::string& path,
                                   const std::function<Expected<void>(Database&)>& describe);

/// Turns the file into a single one without `-wal`. Where readers still have it open that is left
/// to the last of them.
Expected<void> settle_log_file(Database& database);

/// Logs of older versions lack some. `name` is one of the schema's.
Expected<bool> has_table(Database& database, std::string_view name);

struct TableDigest {
  std::string name;
  int64_t row_count = 0;
  uint64_t digest = 0;
  friend bool operator==(const TableDigest&, const TableDigest&) = default;
};
/// Of all tables but `table_digest` itself, as they are now.
Expected<std::vector<TableDigest>> table_digests(Database& database);
Expected<void> write_table_digests(Database& database);

}  // namespace hostir::traces
