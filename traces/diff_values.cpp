// Compares the written tensors of two logs, by name and in order of time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "traces/diff_steps.h"

namespace hostir::traces {
namespace {

using interp::LogCell;
using interp::LogTable;

/// One write of a tensor: the n-th write of (tensor, rank) in each log.
struct Write {
  int64_t event = -1;
  int64_t digest = 0;
  LogCell mean;
  LogCell data;
  std::string dtype;
  int64_t tensor = -1;  // index in its log
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
    writes[cell_text(row[0])][cell_integer(row[1])].push_back(
        {cell_integer(row[2]), cell_integer(row[3], 0), row[4], row[5], cell_text(row[6]),
         cell_integer(row[7])});
  }
  return writes;
}

/// The global index of an element of a rank's part: "[0, 5]".
std::string element_text(const LogReader& log, const Write& write, int64_t rank, int64_t index) {
  const auto& tensors = log.tensors();
  const auto tensor = static_cast<size_t>(write.tensor);
  const auto place = static_cast<size_t>(rank);
  if (tensor >= tensors.size() || place >= tensors[tensor].boxes.size())
    return fmt::format("local element {}", index);
  return fmt::format("[{}]", fmt::join(tensors[tensor].boxes[place].index_at(index), ", "));
}

/// A sentence about the first element outside the tolerance; empty if there is none.
Expected<std::string> compare_contents(const LogReader& a, const LogReader& b, const Write& in_a,
                                       const Write& in_b, int64_t rank,
                                       const DiffOptions& options) {
  const auto dtype = parse_dtype(in_a.dtype);
  HOSTIR_ASSIGN_OR_RETURN(const auto data_a,
                          a.data(static_cast<uint64_t>(cell_integer(in_a.data))));
  HOSTIR_ASSIGN_OR_RETURN(const auto data_b,
                          b.data(static_cast<uint64_t>(cell_integer(in_b.data))));
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
    if (other == in_b.end()) continue;  // different ranks: reported with the instructions
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

// The first few names for a sentence, and the number of the others.
std::string name_list(const std::set<std::string>& names) {
  constexpr size_t kMaxNames = 6;
  std::string out;
  size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == kMaxNames) return out + fmt::format(" and {} more", names.size() - kMaxNames);
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

// Reports tensors whose values are in only one log and which could not be compared.
void report_unknown(const Writes& in_a, const Writes& in_b, DiffReport& report) {
  const auto one_sided = [&](const Writes& some, const Writes& others, std::string_view have,
                             std::string_view lack) {
    std::set<std::string> names;
    for (const auto& [name, writes] : some) {
      if (others.count(name) == 0) names.insert(name);
    }
    if (names.empty()) return;
    const std::string what =
        others.empty()
            ? fmt::format(
                  "no values at all (--trace-values none); {} holds "
                  "those of {}, which were not compared",
                  have, name_list(names))
            : fmt::format("no values of {}; those of {} were not compared", name_list(names), have);
    report.findings.push_back(
        structure_finding("value", fmt::format("values: {} holds {}", lack, what)));
  };
  one_sided(in_b, in_a, "b", "a");
  one_sided(in_a, in_b, "a", "b");
  if (in_a.empty() && in_b.empty())
    report.remarks.push_back("values: neither log holds any, so none were compared");
}

// The earliest write is closest to the cause.
void sort_values(DiffReport& report, size_t begin) {
  std::stable_sort(report.findings.begin() + static_cast<std::ptrdiff_t>(begin),
                   report.findings.end(), [](const DiffFinding& x, const DiffFinding& y) {
                     return static_cast<uint64_t>(x.event_a) < static_cast<uint64_t>(y.event_a);
                   });
}

}  // namespace

Expected<void> compare_values(const LogReader& a, const LogReader& b, const DiffOptions& options,
                              DiffReport& report) {
  HOSTIR_ASSIGN_OR_RETURN(const Writes in_a, writes_of(a));
  HOSTIR_ASSIGN_OR_RETURN(const Writes in_b, writes_of(b));
  report_unknown(in_a, in_b, report);
  const size_t structure = report.findings.size();
  for (const auto& [name, writes] : in_a) {
    const auto other = in_b.find(name);
    if (other == in_b.end()) continue;
    HOSTIR_TRY(compare_tensor(a, b, name, writes, other->second, options, report));
  }
  sort_values(report, structure);
  return {};
}

}  // namespace hostir::traces
