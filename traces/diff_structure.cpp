// Compares the structure of two logs: program, environment, collectives.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "traces/diff_steps.h"

namespace hostir::traces {

using interp::LogCell;
using interp::LogInstruction;
using interp::LogTable;

namespace {

constexpr int64_t kEveryRow = std::numeric_limits<int64_t>::max();

std::string run_property(const LogReader& log, std::string_view key) {
  for (const auto& [name, value] : log.run().properties) {
    if (name == key) return value;
  }
  return {};
}

std::string quoted_instruction(const LogInstruction& i) {
  return fmt::format("{} `{}`", i.address, i.text);
}

std::string times_text(int64_t n) {
  return n == 0 ? "never" : n == 1 ? "once" : fmt::format("{} times", n);
}

// Rows of both sides by key, ordered by key; null if a side does not have the row.
using RowKey = std::tuple<std::string, int64_t, int64_t, int64_t>;
struct RowPair {
  const std::vector<LogCell>* a = nullptr;
  const std::vector<LogCell>* b = nullptr;
};
using RowPairs = std::map<RowKey, RowPair>;

// The key of a row is its first three columns; rows with equal keys are numbered.
void add_side(const LogTable& table, const std::vector<LogCell>* RowPair::*side, RowPairs& pairs) {
  std::map<RowKey, int64_t> seen;
  for (const auto& row : table.rows) {
    RowKey key(cell_text(row[0]), cell_integer(row[1]), cell_integer(row[2]), 0);
    std::get<3>(key) = seen[key]++;
    pairs[key].*side = &row;
  }
}

std::string meeting_text(const std::vector<LogCell>* row) {
  if (row == nullptr) return "no such meeting";
  const auto& r = *row;
  const bool reduces = !std::holds_alternative<std::monostate>(r[4]);
  return fmt::format("{}{} of {} bytes {}, {} of {} ranks arrived", cell_text(r[3]),
                     reduces ? " " + cell_text(r[4]) : "", cell_text(r[6]), cell_text(r[5]),
                     cell_text(r[7]), cell_text(r[8]));
}

}  // namespace

std::string cell_text(const LogCell& cell) {
  if (const auto* i = std::get_if<int64_t>(&cell)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&cell)) return fmt::format("{}", *d);
  if (const auto* s = std::get_if<std::string>(&cell)) return *s;
  return "nothing";
}

int64_t cell_integer(const LogCell& cell, int64_t fallback) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value != nullptr ? *value : fallback;
}

DiffFinding structure_finding(std::string what, std::string sentence) {
  return {std::move(what), std::move(sentence), {}, -1, -1, interp::kNoRank};
}

Expected<void> compare_surroundings(const LogReader& a, const LogReader& b, DiffReport& report) {
  const auto remark = [&](std::string_view what, const std::string& in_a, const std::string& in_b) {
    if (in_a != in_b) {
      report.remarks.push_back(fmt::format("{}: {} in a, {} in b", what,
                                           in_a.empty() ? "none" : in_a,
                                           in_b.empty() ? "none" : in_b));
    }
  };
  constexpr std::string_view kRun =
      "SELECT (SELECT '@' || name || ' = <' || axes || '>' FROM mesh WHERE world = 1), kernel_set "
      "FROM run";
  HOSTIR_ASSIGN_OR_RETURN(const LogTable run_a, a.query(kRun, 1));
  HOSTIR_ASSIGN_OR_RETURN(const LogTable run_b, b.query(kRun, 1));
  const auto column = [](const LogTable& t, size_t i) {
    return t.rows.empty() ? std::string() : cell_text(t.rows.front()[i]);
  };
  remark("backend", a.run().backend, b.run().backend);
  remark("kernels", run_property(a, "kernels"), run_property(b, "kernels"));
  remark("instruction set of the kernels", column(run_a, 1), column(run_b, 1));
  remark("machine", a.run().machine, b.run().machine);
  remark("mesh", column(run_a, 0), column(run_b, 0));
  remark("schedule", fmt::format("{} of seed {}", a.run().schedule, a.run().seed),
         fmt::format("{} of seed {}", b.run().schedule, b.run().seed));
  if (a.run().rank_count != b.run().rank_count) {
    report.findings.push_back(structure_finding(
        "program",
        fmt::format("a has {} ranks, b has {}", a.run().rank_count, b.run().rank_count)));
  }
  return {};
}

/// Compared first, because different inputs explain different values.
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

void compare_instructions(const LogReader& a, const LogReader& b, DiffReport& report) {
  const auto& in_a = a.instructions();
  const auto& in_b = b.instructions();
  const size_t common = std::min(in_a.size(), in_b.size());
  report.instructions = static_cast<int64_t>(std::max(in_a.size(), in_b.size()));
  size_t i = 0;
  while (i < common && in_a[i].address == in_b[i].address && in_a[i].text == in_b[i].text) ++i;
  if (i == in_a.size() && i == in_b.size()) return;
  const auto side = [&](const std::vector<LogInstruction>& list) {
    return i < list.size() ? quoted_instruction(list[i])
                           : fmt::format("no more than {}", list.size());
  };
  report.findings.push_back(structure_finding(
      "instructions",
      fmt::format("instructions: the programs differ first in instruction {}: {} in a, {} in b",
                  i + 1, side(in_a), side(in_b))));
}

Expected<void> compare_executed(const LogReader& a, const LogReader& b, DiffReport& report) {
  constexpr std::string_view kSql =
      "SELECT '', rank, instruction, COUNT(*) FROM event GROUP BY rank, instruction";
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_a, a.query(kSql, kEveryRow));
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_b, b.query(kSql, kEveryRow));
  RowPairs pairs;
  add_side(rows_a, &RowPair::a, pairs);
  add_side(rows_b, &RowPair::b, pairs);
  int64_t others = -1;
  std::string sentence;
  const int64_t ranks = std::min(a.run().rank_count, b.run().rank_count);
  for (const auto& [key, pair] : pairs) {
    if (std::get<1>(key) >= ranks) continue;  // already reported
    const int64_t in_a = pair.a ? cell_integer((*pair.a)[3]) : 0;
    const int64_t in_b = pair.b ? cell_integer((*pair.b)[3]) : 0;
    if (in_a == in_b) continue;
    if (++others > 0) continue;
    const auto code = static_cast<size_t>(std::get<2>(key));
    sentence =
        fmt::format("executed instructions: rank {} executed {} {} in a, {} in b", std::get<1>(key),
                    code < a.instructions().size() ? quoted_instruction(a.instructions()[code])
                                                   : "an unknown instruction",
                    times_text(in_a), times_text(in_b));
  }
  if (sentence.empty()) return {};
  if (others > 0) sentence += fmt::format(" (and {} more instructions of ranks)", others);
  report.findings.push_back(structure_finding("executed instructions", std::move(sentence)));
  return {};
}

Expected<void> compare_collectives(const LogReader& a, const LogReader& b, DiffReport& report) {
  constexpr std::string_view kSql =
      "SELECT communicator, group_index, sequence, kind, reduction, dtype, bytes, arrived, "
      "member_count FROM v_collectives ORDER BY 1, 2, 3, 4, address";
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_a, a.query(kSql, kEveryRow));
  HOSTIR_ASSIGN_OR_RETURN(const LogTable rows_b, b.query(kSql, kEveryRow));
  RowPairs pairs;
  add_side(rows_a, &RowPair::a, pairs);
  add_side(rows_b, &RowPair::b, pairs);
  report.collectives = static_cast<int64_t>(pairs.size());
  for (const auto& [key, pair] : pairs) {
    if (pair.a && pair.b && *pair.a == *pair.b) continue;
    report.findings.push_back(structure_finding(
        "collectives",
        fmt::format("collectives: communicator {}, group {}, sequence number {}: {} in a, {} in b",
                    std::get<0>(key), std::get<1>(key), std::get<2>(key), meeting_text(pair.a),
                    meeting_text(pair.b))));
    break;
  }
  return {};
}

Expected<void> compare_faults(const LogReader& a, const LogReader& b, DiffReport& report) {
  HOSTIR_ASSIGN_OR_RETURN(const auto in_a, a.faults());
  HOSTIR_ASSIGN_OR_RETURN(const auto in_b, b.faults());
  const auto text = [](const std::vector<interp::LogFault>& faults, size_t i) {
    return i < faults.size() ? faults[i].kind + ": " + faults[i].sentence : std::string("none");
  };
  for (size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i) {
    if (text(in_a, i) == text(in_b, i)) continue;
    report.findings.push_back(structure_finding(
        "faults", fmt::format("faults: {} in a; {} in b", text(in_a, i), text(in_b, i))));
    break;
  }
  return {};
}

}  // namespace hostir::traces
