// The log's schema, declared once: SQL, documentation (SCHEMA.md) and digests are generated from
// it.
//
// Every table and column has a sentence and, if it is a quantity, a unit. To change a table, change
// its declaration, raise `kSchemaVersion`, add a step in migrate.cpp, and run `unit_traces` with
// HOSTIR_UPDATE=1, which rewrites SCHEMA.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hostir::traces {

inline constexpr int64_t kSchemaVersion = 7;
/// Logs from this version on lack only tables that a reader can do without: they are read as they
/// are, older ones from a migrated copy.
inline constexpr int64_t kReadableVersion = 1;
/// Logs of earlier versions cannot be merged into one run.
inline constexpr int64_t kMergeableVersion = 6;
inline constexpr int64_t kApplicationId = 0x48495257;  // "HIRW"
/// True if `head`, the first 72 bytes of a file or more, is that of a log: SQLite keeps the id
/// there, in big-endian order. Needs no SQLite.
inline bool is_log_head(std::string_view head) {
  constexpr size_t kAt = 68;
  if (!head.starts_with("SQLite format 3") || head.size() < kAt + 4) return false;
  int64_t id = 0;
  for (const char byte : head.substr(kAt, 4)) id = id * 256 + static_cast<unsigned char>(byte);
  return id == kApplicationId;
}

struct Column {
  std::string_view name;
  std::string_view type;  // INTEGER, REAL, TEXT, BLOB, with constraints
  std::string_view unit;  // "ns", "bytes", ...; empty: none
  std::string_view doc;   // one sentence
};

struct Table {
  std::string_view name;
  std::string_view doc;
  std::vector<Column> columns;
  std::string_view constraint = {};  // of the table: "PRIMARY KEY (a, b)"
};

struct View {
  std::string_view name;
  std::string_view doc;
  std::string_view select;
};

/// In the order of creation and documentation.
std::vector<Table> schema_tables();
std::vector<View> schema_views();

// The parts of `schema_tables`, by subject.
std::vector<Table> run_tables();      // the run, the mesh, the processes
std::vector<Table> program_tables();  // the program
std::vector<Table> event_tables();    // events

/// CREATE statements of everything, application_id and user_version.
std::string schema_sql();
/// Indexes; created when the log is closed, because inserting is faster without them.
std::string index_sql();
/// The text of SCHEMA.md.
std::string schema_markdown();

}  // namespace hostir::traces
