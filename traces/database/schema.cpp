#include "traces/database/schema.h"

#include <fmt/core.h>

#include <iterator>

namespace hostir::traces {
namespace {

void append(std::string& out, std::string_view a) { out.append(a); }

std::string create_table(const Table& table) {
  std::string sql = fmt::format("CREATE TABLE {} (", table.name);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    fmt::format_to(std::back_inserter(sql), "{}{} {}", i == 0 ? "" : ", ", column.name,
                   column.type);
  }
  if (!table.constraint.empty()) {
    fmt::format_to(std::back_inserter(sql), ", {}", table.constraint);
  }
  append(sql, ");\n");
  return sql;
}

}  // namespace

std::vector<Table> schema_tables() {
  std::vector<Table> all = run_tables();
  for (Table& table : program_tables()) all.push_back(std::move(table));
  for (Table& table : event_tables()) all.push_back(std::move(table));
  return all;
}

std::string schema_sql() {
  std::string sql = fmt::format("PRAGMA application_id = {};\nPRAGMA user_version = {};\n",
                                kApplicationId, kSchemaVersion);
  for (const Table& table : schema_tables()) append(sql, create_table(table));
  for (const View& view : schema_views()) {
    fmt::format_to(std::back_inserter(sql), "CREATE VIEW {} AS\n{};\n", view.name, view.select);
  }
  return sql;
}

std::string index_sql() {
  return "CREATE INDEX IF NOT EXISTS value_by_tensor ON value (tensor, rank, event);\n"
         "CREATE INDEX IF NOT EXISTS collective_by_meeting ON collective_row (communicator, "
         "sequence);\n";
}

std::string schema_markdown() {
  std::string out = fmt::format(
      "# The log's schema\n\n"
      "Generated from `traces/schema*.cpp`; a unit test compares. Version {} (`PRAGMA "
      "user_version`), `PRAGMA application_id` = {:#x}.\n"
      "Times are `*_ns`, nanoseconds since the run's origin (virtual on `sim`); sizes are "
      "`*_bytes`. What is not known is NULL.\n\n## Tables\n",
      kSchemaVersion, kApplicationId);
  for (const Table& table : schema_tables()) {
    fmt::format_to(std::back_inserter(out),
                   "\n### {}\n{}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n",
                   table.name, table.doc);
    for (const Column& column : table.columns) {
      fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} |\n", column.name, column.type,
                     column.unit, column.doc);
    }
    if (!table.constraint.empty()) {
      fmt::format_to(std::back_inserter(out), "\n{}\n", table.constraint);
    }
  }
  append(out, "\n## Views\n\n| view | answers |\n|---|---|\n");
  for (const View& view : schema_views()) {
    fmt::format_to(std::back_inserter(out), "| `{}` | {} |\n", view.name, view.doc);
  }
  append(out, "\n## Indexes\nMade when the log is closed.\n```sql\n");
  append(out, index_sql());
  append(out, "```\n");
  return out;
}

}  // namespace hostir::traces
