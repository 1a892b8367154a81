// Tables that queries of our own connections can use, computed from the timeline when they are
// read.
//
// The views of the schema answer the same questions in any SQLite, but they unpack every event:
// minutes in a log of ten million. These tables read the stored timeline
// (traces/timeline/stored_timeline.h), or each event once, and take seconds at most. They omit
// undone events, like the window. They are not in the file.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "interp/session/log/log_records.h"
#include "traces/database/sqlite.h"

namespace hostir::traces {

class LogReader;

/// The rows of a table. A long table makes its cells when they are read.
class ComputedRows {
 public:
  using Cells = std::vector<std::vector<interp::LogCell>>;
  using CellOf = std::function<interp::LogCell(size_t row, size_t column)>;
  ComputedRows() = default;
  ComputedRows(size_t count, CellOf cell) : count_(count), cell_(std::move(cell)) {}
  ComputedRows(Cells cells) : count_(cells.size()) {  // NOLINT(google-explicit-constructor)
    const auto kept = std::make_shared<Cells>(std::move(cells));
    cell_ = [kept](size_t row, size_t column) { return (*kept)[row][column]; };
  }
  size_t count() const { return count_; }
  interp::LogCell cell(size_t row, size_t column) const { return cell_(row, column); }

 private:
  size_t count_ = 0;
  CellOf cell_;
};

struct ComputedTable {
  std::string_view name;
  std::string_view doc;
  std::string_view columns;  // names, separated by commas
  Expected<ComputedRows> (*rows)(const LogReader& log, const std::stop_token& stop);
};

std::span<const ComputedTable> computed_tables();

/// Makes the tables known to a connection of the pool, which must not outlive `log`.
Expected<void> register_computed_tables(Database& database, const LogReader& log,
                                        std::stop_token stop);

// The tables, one file each.
Expected<ComputedRows> collectives(const LogReader& log, const std::stop_token& stop);
Expected<ComputedRows> instruction_times(const LogReader& log, const std::stop_token& stop);
Expected<ComputedRows> exposed_communication(const LogReader& log, const std::stop_token& stop);
Expected<ComputedRows> peak_memory(const LogReader& log, const std::stop_token& stop);
Expected<ComputedRows> slowest_waits(const LogReader& log, const std::stop_token& stop);

}  // namespace hostir::traces
