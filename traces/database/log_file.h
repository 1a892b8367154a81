// The file that holds the tables: creating it, closing it, digests of its tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/database/sqlite.h"

namespace hostir::traces {

/// Creates a log with the current schema and the rows that `describe` writes, ready for fast
/// writing. The file is created beside `path` and renamed once it can be opened, which replaces an
/// older log. If the writer is killed before that, `path` is unchanged and `path` + ".new" remains.
/// Errors: `log_exists` if the path holds something that is not a log; those of `describe`.
Expected<Database> create_log_file(const std::string& path,
                                   const std::function<Expected<void>(Database&)>& describe);

/// Merges the log's `-wal` into the log, which is then a single file. If readers still have it
/// open, the last of them merges it.
Expected<void> settle_log_file(Database& database);

/// Logs of older versions do not have all tables. `name` is one of the schema's.
Expected<bool> has_table(Database& database, std::string_view name);

struct TableDigest {
  std::string name;
  int64_t row_count = 0;
  uint64_t digest = 0;
  friend bool operator==(const TableDigest&, const TableDigest&) = default;
};
/// Digests of the current contents of all tables except `table_digest`.
Expected<std::vector<TableDigest>> table_digests(Database& database);
Expected<void> write_table_digests(Database& database);

}  // namespace hostir::traces
