// The tables printed by `hostir trace info|events|collectives|memory|sql`.
//
// Each function answers one question; `print_table` writes any table for people, spreadsheets or
// programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "interp/session/log/log_records.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// Two columns, key and value: environment, times, outcome, and the number of rows of everything.
Expected<interp::LogTable> info_table(const LogReader& log);

/// One row per executed instruction that matches `filter`
/// (interp/session/expressions/event_filter.h; empty: all), at most `limit`. Errors:
/// `event_filter`.
Expected<interp::LogTable> events_table(const LogReader& log, std::string_view filter,
                                        int64_t limit);
/// One row per meeting: members, times, bytes, bandwidth.
Expected<interp::LogTable> collectives_table(const LogReader& log);
/// Peak per rank, and the live allocations at that time.
Expected<interp::LogTable> memory_table(const LogReader& log);
/// One row per fault, with its sentence.
Expected<interp::LogTable> faults_table(const LogReader& log);

enum class TableFormat : uint8_t { kTable, kCsv, kJson };
/// `table`, `csv` or `json`.
Expected<TableFormat> parse_table_format(std::string_view text);
/// JSON: a list of objects; blobs in hexadecimal. CSV: RFC 4180. NULL is an empty cell, in JSON
/// null.
std::string print_table(const interp::LogTable& table, TableFormat format);

}  // namespace hostir::traces
