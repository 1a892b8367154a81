#include "traces/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hostir::traces {
namespace {

using interp::LogCell;
using interp::LogTable;

std::string cell_text(const LogCell& cell) {
  if (const auto* i = std::get_if<int64_t>(&cell)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&cell)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&cell)) return *s;
  return "nothing";
}

int64_t integer(const LogCell& cell, int64_t fallback = -1) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value != nullptr ? *value : fallback;
}

std::string row_text(const LogTable& table, size_t row) {
  if (row >= table.rows.size()) return "nothing";
  std::string out;
  for (const LogCell& cell : table.rows[row]) {
    if (!std::holds_alternative<std::monostate>(cell)) {
      out += (out.empty() ? "" : " ") + cell_text(cell);
    }
  }
  return out;
}

/// Compares the answers to one query; one finding for the first row that differs.
Expected<int64_t> compare_rows(const LogReader& a, const LogReader& b, std::string_view sql,
                               std::string_view what, DiffReport& report) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_a, a.query(sql, kAll));
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_b, b.query(sql, kAll));
  const size_t rows = std::max(rows_a.rows.size(), rows_b.rows.size());
  for (size_t i = 0; i < rows; ++i) {
    const std::string in_a = row_text(rows_a, i);
    const std::string in_b = row_text(rows_b, i);
    if (in_a == in_b) continue;
    report.findings.push_back(
        {std::string(what),
         fmt::format("{}: first difference in row {}: a has \"{}\", b has \"{}\"", what, i + 1,
                     in_a, in_b),
         {},
         -1,
         -1,
         interp::kNoRank});
    break;
  }
  return static_cast<int64_t>(rows);
}

/// One write of a tensor: what row n of (tensor, rank) is in each log.
struct Write {
  int64_t event = -1;
  int64_t digest = 0;
  LogCell mean;
  LogCell data;
  std::string dtype;
  int64_t tensor = -1;  // of its log
};
using Writes = std::map<std::string, std::map<int64_t, std::vector<Write>>>;  // name, rank

Expected<Writes> writes_of(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      const LogTable rows,
      log.query("SELECT t.function || '/%' || t.name, v.rank, v.event, v.digest, v.mean, v.data, "
                "t.dtype, v.tensor FROM value v JOIN tensor t ON t.id = v.tensor "
                "ORDER BY v.event, v.rank, v.operand",
                std::numeric_limits<int64_t>::max()));
  Writes writes;
  for (const auto& row : rows.rows) {
    writes[cell_text(row[0])][integer(row[1])].push_back(
        {integer(row[2]), integer(row[3], 0), row[4], row[5], cell_text(row[6]), integer(row[7])});
  }
  return writes;
}

/// Where an element of a rank's part lies in the whole tensor: "[0, 5]".
std::string element_text(const LogReader& log, const Write& write, int64_t rank, int64_t index) {
  const auto& tensors = log.tensors();
  const auto tensor = static_cast<size_t>(write.tensor);
  const auto place = static_cast<size_t>(rank);
  if (tensor >= tensors.size() || place >= tensors[tensor].boxes.size())
    return fmt::format("local element {}", index);
  return fmt::format("[{}]", fmt::join(tensors[tensor].boxes[place].index_at(index), ", "));
}

/// The first element outside of the tolerance as a sentence; empty: none is.
Expected<std::string> compare_contents(const LogReader& a, const LogReader& b, const Write& in_a,
                                       const Write& in_b, int64_t rank,
                                       const DiffOptions& options) {
  const auto dtype = parse_dtype(in_a.dtype);
  HOSTIR_ASSIGN_OR_RETURN(const auto data_a, a.data(static_cast<uint64_t>(integer(in_a.data))));
  HOSTIR_ASSIGN_OR_RETURN(const auto data_b, b.data(static_cast<uint64_t>(integer(in_b.data))));
  if (!dtype || in_a.dtype != in_b.dtype || data_a.size() != data_b.size()) {
    return std::string("other dtypes or sizes");
  }
  const auto step = static_cast<size_t>(size_bytes(*dtype));
  for (size_t i = 0; i + step <= data_a.size(); i += step) {
    const double x = load_double(*dtype, data_a.data() + i);
    const double y = load_double(*dtype, data_b.data() + i);
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    if (same || std::abs(x - y) <= options.atol + options.rtol * std::abs(y)) continue;
    return fmt::format("{}: {:.9g} in a, {:.9g} in b",
                       element_text(a, in_a, rank, static_cast<int64_t>(i / step)), x, y);
  }
  return std::string();
}

Expected<std::string> compare_write(const LogReader& a, const LogReader& b, const Write& in_a,
                                    const Write& in_b, int64_t rank, const DiffOptions& options) {
  if (in_a.digest == in_b.digest) return std::string();
  const auto known = [](const LogCell& cell) {
    return !std::holds_alternative<std::monostate>(cell);
  };
  if (known(in_a.data) && known(in_b.data))
    return compare_contents(a, b, in_a, in_b, rank, options);
  if (known(in_a.mean) && known(in_b.mean)) {
    return fmt::format("other contents: mean {} in a, {} in b", cell_text(in_a.mean),
                       cell_text(in_b.mean));
  }
  return std::string("other contents");
}

Expected<void> compare_tensor(const LogReader& a, const LogReader& b, const std::string& name,
                              const std::map<int64_t, std::vector<Write>>& in_a,
                              const std::map<int64_t, std::vector<Write>>& in_b,
                              const DiffOptions& options, DiffReport& report) {
  DiffFinding first;
  for (const auto& [rank, writes_a] : in_a) {
    const auto other = in_b.find(rank);
    if (other == in_b.end()) continue;  // other ranks: the instructions say it
    const size_t count = std::min(writes_a.size(), other->second.size());
    for (size_t i = 0; i < count; ++i) {
      ++report.values;
      const Write& write_a = writes_a[i];
      const Write& write_b = other->second[i];
      HOSTIR_ASSIGN_OR_RETURN(const std::string difference,
                              compare_write(a, b, write_a, write_b, rank, options));
      if (difference.empty()) continue;
      if (first.event_a < 0 || write_a.event < first.event_a) {
        first = {"value",
                 fmt::format("{} on rank {}, write {} (event {} in a, {} in b): {}", name, rank,
                             i + 1, write_a.event, write_b.event, difference),
                 name,
                 write_a.event,
                 write_b.event,
                 static_cast<interp::Rank>(rank)};
      }
      break;
    }
  }
  if (first.event_a >= 0) report.findings.push_back(std::move(first));
  return {};
}

/// Other inputs explain other values: they are said first.
void compare_inputs(const LogReader& a, const LogReader& b, DiffReport& report) {
  for (const interp::LogInput& in_a : a.inputs()) {
    const auto in_b = std::find_if(b.inputs().begin(), b.inputs().end(),
                                   [&](const auto& input) { return input.name == in_a.name; });
    if (in_b == b.inputs().end() || in_b->digest == in_a.digest) continue;
    const bool expressions = !in_a.expression.empty() && in_a.expression != in_b->expression;
    report.findings.push_back(
        {"input",
         fmt::format("input %{}: other contents{}", in_a.name,
                     expressions
                         ? fmt::format(": {} in a, {} in b", in_a.expression, in_b->expression)
                         : std::string()),
         in_a.name, -1, -1, interp::kNoRank});
  }
}

// What was written first is nearest to the cause.
void sort_values(DiffReport& report, size_t begin) {
  std::stable_sort(report.findings.begin() + static_cast<std::ptrdiff_t>(begin),
                   report.findings.end(), [](const DiffFinding& x, const DiffFinding& y) {
                     return static_cast<uint64_t>(x.event_a) < static_cast<uint64_t>(y.event_a);
                   });
}

}  // namespace

Expected<DiffReport> diff(const LogReader& a, const LogReader& b, const DiffOptions& options) {
  DiffReport report;
  if (a.run().rank_count != b.run().rank_count) {
    report.findings.push_back(
        {"program",
         fmt::format("a has {} ranks, b has {}", a.run().rank_count, b.run().rank_count),
         {},
         -1,
         -1,
         interp::kNoRank});
  }
  HOSTIR_ASSIGN_OR_RETURN(
      report.instructions,
      compare_rows(a, b, "SELECT address, op, text FROM instruction ORDER BY id", "instructions",
                   report));
  HOSTIR_ASSIGN_OR_RETURN(
      report.collectives,
      compare_rows(a, b,
                   "SELECT communicator, group_index, sequence, kind, reduction, dtype, bytes, "
                   "arrived, member_count FROM v_collectives "
                   "ORDER BY 1, 2, 3, 4, address",
                   "collectives", report));
  HOSTIR_TRY(compare_rows(a, b,
                          "SELECT rank, instruction, COUNT(*) AS times FROM event "
                          "GROUP BY rank, instruction ORDER BY rank, instruction",
                          "executed instructions", report));
  compare_inputs(a, b, report);
  const size_t structure = report.findings.size();
  HOSTIR_ASSIGN_OR_RETURN(const Writes in_a, writes_of(a));
  HOSTIR_ASSIGN_OR_RETURN(const Writes in_b, writes_of(b));
  for (const auto& [name, writes] : in_a) {
    const auto other = in_b.find(name);
    if (other == in_b.end()) {
      if (!in_b.empty()) {
        report.findings.push_back(
            {"value", fmt::format("{} is written in a only", name), name, -1, -1, interp::kNoRank});
      }
      continue;
    }
    HOSTIR_TRY(compare_tensor(a, b, name, writes, other->second, options, report));
  }
  for (const auto& [name, writes] : in_b) {
    if (!in_a.empty() && in_a.count(name) == 0) {
      report.findings.push_back(
          {"value", fmt::format("{} is written in b only", name), name, -1, -1, interp::kNoRank});
    }
  }
  sort_values(report, structure);
  HOSTIR_TRY(compare_rows(a, b, "SELECT kind, sentence FROM fault ORDER BY id", "faults", report));
  return report;
}

std::string to_string(const DiffReport& report) {
  if (report.findings.empty()) {
    return fmt::format("equal: {} instructions, {} collectives, {} values\n", report.instructions,
                       report.collectives, report.values);
  }
  std::string out;
  for (const DiffFinding& finding : report.findings) out += finding.sentence + "\n";
  return out;
}

}  // namespace hostir::traces
