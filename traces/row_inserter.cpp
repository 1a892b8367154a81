#include "traces/row_inserter.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::traces {

Expected<RowInserter> RowInserter::create(Database& database, std::string_view verb,
                                          std::string_view table, std::string_view columns) {
  RowInserter inserter;
  inserter.column_count_ = static_cast<size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
  inserter.rows_.resize(inserter.column_count_ * kRowsPerStatement);

  std::string row = "(?";
  for (size_t i = 1; i < inserter.column_count_; ++i) row += ",?";
  row += ")";
  std::string rows = row;
  for (size_t i = 1; i < kRowsPerStatement; ++i) rows += "," + row;
  const std::string head = fmt::format("{} INTO {} ({}) VALUES ", verb, table, columns);
  HOSTIR_ASSIGN_OR_RETURN(inserter.many_, database.prepare(head + rows));
  HOSTIR_ASSIGN_OR_RETURN(inserter.one_, database.prepare(head + row));
  return inserter;
}

Expected<int64_t*> RowInserter::add() {
  if (filled_ == kRowsPerStatement) HOSTIR_TRY(insert_full());
  return &rows_[column_count_ * filled_++];
}

Expected<void> RowInserter::insert_full() {
  filled_ = 0;
  return bind_and_run(many_, rows_.data(), kRowsPerStatement);
}

Expected<void> RowInserter::finish() {
  if (filled_ == kRowsPerStatement) return insert_full();
  for (size_t i = 0; i < filled_; ++i) {
    HOSTIR_TRY(bind_and_run(one_, &rows_[column_count_ * i], 1));
  }
  filled_ = 0;
  return {};
}

Expected<void> RowInserter::bind_and_run(Statement& statement, const int64_t* rows, size_t count) {
  const size_t total = count * column_count_;
  for (size_t i = 0; i < total; ++i) {
    if (rows[i] == kNull) {
      statement.bind_null(static_cast<int>(i) + 1);
    } else {
      statement.bind_int(static_cast<int>(i) + 1, rows[i]);
    }
  }
  return statement.run();
}

}  // namespace hostir::traces
