#include "interp/session/diff/run_times_diff.h"

#include <cmath>
#include <map>
#include <variant>

namespace hostir::interp {

namespace {

// Per instruction: address, name, median. `took` has one row per launch of a rank, and one per
// collective of all of its members.
constexpr std::string_view kMediansSql = R"(
WITH timed AS (
  SELECT i.id, i.address, COALESCE(i.kernel, i.op) AS what, e.loop_path, e.rank, i.kernel,
         e.finish_ns - e.start_ns AS ns
  FROM event e JOIN instruction i ON i.id = e.instruction
  WHERE e.finish_ns > e.start_ns AND (i.kernel IS NOT NULL OR i.op_class = 'communication')),
took AS (
  SELECT id, address, what, MIN(ns) AS ns FROM timed
  GROUP BY id, loop_path, CASE WHEN kernel IS NULL THEN -1 ELSE rank END),
ranked AS (
  SELECT id, address, what, ns, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ns) AS place,
         COUNT(*) OVER (PARTITION BY id) AS places
  FROM took)
SELECT address, what, AVG(ns) FROM ranked WHERE place IN ((places + 1) / 2, (places + 2) / 2)
GROUP BY id ORDER BY id)";

double number_in(const LogCell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
  return 0;
}

std::string text_in(const LogCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

Expected<std::vector<TimesRow>> compare_times(const LogView& a, const LogView& b,
                                              const std::stop_token& stop) {
  HOSTIR_ASSIGN_OR_RETURN(const LogTable of_a, a.query(kMediansSql, 1'000'000, stop));
  HOSTIR_ASSIGN_OR_RETURN(const LogTable of_b, b.query(kMediansSql, 1'000'000, stop));
  std::map<std::string, double> b_ns;
  for (const auto& row : of_b.rows) b_ns[text_in(row[0])] = number_in(row[2]);
  std::vector<TimesRow> out;
  for (const auto& row : of_a.rows) {
    const auto found = b_ns.find(text_in(row[0]));
    if (found == b_ns.end()) continue;
    out.push_back({found->first, text_in(row[1]), number_in(row[2]), found->second});
  }
  return out;
}

double mean_time_error(const std::vector<TimesRow>& rows) {
  double sum = 0;
  for (const TimesRow& row : rows) sum += std::fabs(std::log(row.a_ns / row.b_ns));
  return rows.empty() ? 0 : std::exp(sum / static_cast<double>(rows.size())) - 1;
}

}  // namespace hostir::interp
