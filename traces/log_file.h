// The file around the tables: making it, closing it, digests of its tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/sqlite.h"

namespace hostir::traces {

/// A new, empty log with the current schema, ready for fast writing. An older log at `path` is
/// removed. Errors: `log_exists` where the path holds something that is no log.
Expected<Database> create_log_file(const std::string& path);

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
