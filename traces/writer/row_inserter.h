// Inserts rows of integers into a table, many per statement.
//
// Executes `INSERT INTO table SELECT * FROM rows`, where `rows` is a virtual table over our buffer.
// SQLite reads the cells directly, which is a third cheaper than binding the parameters of a
// statement with many VALUES (tests/bench/README.md, section Log). Rows are buffered until the
// buffer is full; `finish()` writes the rest and must be called before a commit. The database must
// outlive it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "traces/database/sqlite.h"

namespace hostir::traces {

/// Represents NULL among the integers of a row.
inline constexpr int64_t kNull = std::numeric_limits<int64_t>::min();

class RowInserter {
 public:
  /// `columns` = "a, b, c"; `verb` = "INSERT" or "INSERT OR REPLACE".
  static Expected<RowInserter> create(Database& database, std::string_view verb,
                                      std::string_view table, std::string_view columns);

  /// Returns the next row, `column_count` integers to fill in immediately; valid until the next
  /// call.
  Expected<int64_t*> add();
  Expected<void> finish();

 private:
  static constexpr size_t kRowsPerStatement = 256;
  /// The data of the virtual table. On the heap, because SQLite stores its address.
  struct Buffer {
    size_t column_count = 0;
    size_t filled = 0;  // rows
    std::vector<int64_t> cells;
  };
  struct Module;  // the functions that SQLite calls

  std::unique_ptr<Buffer> buffer_;
  Statement insert_;
};

}  // namespace hostir::traces
