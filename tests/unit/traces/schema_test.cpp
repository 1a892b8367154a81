#include "traces/database/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "traces/database/migrate.h"
#include "traces/database/sqlite.h"

namespace hostir::traces {
namespace {

std::string whole_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Schema, MarkdownIsGenerated) {
  const std::string path = "traces/SCHEMA.md";
  if (std::getenv("HOSTIR_UPDATE") != nullptr) std::ofstream(path) << schema_markdown();
  EXPECT_EQ(whole_file(path), schema_markdown()) << "run with HOSTIR_UPDATE=1";
}

TEST(Schema, SqlIsAcceptedAndEveryViewRuns) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database);
  const auto made = database->execute(schema_sql() + index_sql());
  ASSERT_TRUE(made) << made.error().message();
  for (const View& view : schema_views()) {
    auto rows = database->prepare("SELECT * FROM " + std::string(view.name));
    ASSERT_TRUE(rows) << view.name << ": " << rows.error().message();
    const auto row = rows->step();
    ASSERT_TRUE(row) << view.name << ": " << row.error().message();
    EXPECT_FALSE(*row) << view.name;
  }
}

TEST(Schema, EverythingIsDocumented) {
  std::set<std::string_view> tables;
  for (const Table& table : schema_tables()) {
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.doc.empty()) << table.name;
    std::set<std::string_view> columns;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.doc.empty()) << table.name << "." << column.name;
      EXPECT_EQ(column.name.ends_with("_ns"), column.unit == "ns") << table.name << column.name;
    }
  }
}

TEST(Migrate, StepsRunInOrderAndAMissingOneIsNamed) {
  auto database = Database::in_memory();
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("PRAGMA user_version = 1; CREATE TABLE a (x)"));
  const std::vector<MigrationStep> steps = {{1, "ALTER TABLE a ADD COLUMN y"},
                                            {2, "UPDATE a SET y = 1; CREATE TABLE b (z)"}};
  ASSERT_TRUE(migrate(*database, steps, 3));
  EXPECT_EQ(database->query_int("PRAGMA user_version")->value_or(0), 3);
  EXPECT_TRUE(database->prepare("SELECT y, z FROM a, b"));
  const auto missing = migrate(*database, steps, 5);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().diagnostics[0].id, "log_old");
}

}  // namespace
}  // namespace hostir::traces
