// Two runs compared, in lines.
#include "interp/session/diff/run_diff_report.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <set>

#include "hostir/ir/inline_value.h"
#include "hostir/support/text.h"
#include "interp/session/checks/write_difference.h"

namespace hostir::interp {

namespace {

constexpr int64_t kMostHeldBytes = int64_t{256} << 20;  // of A's contents at a time

// True if two elements that are not the same are within the tolerance. Infinities and NaNs never
// are; integers are subtracted as integers.
bool is_within(const Tensor& a, const Tensor& b, int64_t i, const DiffTolerance& tolerance) {
  const double y = b.get_double(i);
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(y);
  if (is_float(a.dtype)) {
    const double x = a.get_double(i);
    return std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= allowed;
  }
  return static_cast<double>(integer_distance(a, b, i)) <= allowed;
}

// The first element outside the tolerance; -1 if there is none.
int64_t first_outside(const Tensor& a, const Tensor& b, const DiffTolerance& tolerance) {
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const double x = a.get_double(i);
    const double y = b.get_double(i);
    const bool same = is_float(a.dtype) ? x == y || (std::isnan(x) && std::isnan(y))
                                        : a.get_int(i) == b.get_int(i);
    if (same || is_within(a, b, i, tolerance)) continue;
    return i;
  }
  return -1;
}

}  // namespace

Expected<DiffReport> report(const RunDiff& diff, const DiffTolerance& tolerance,
                            const std::stop_token& stop) {
  DiffReport out;
  for (const DiffFact& fact : diff.facts) {
    const bool explains = fact.kind == DiffFact::Kind::kSurroundings;
    (explains ? out.notes : out.differences).push_back(fact.sentence);
  }
  std::vector<uint32_t> rows;
  int64_t others = 0;  // parts or shapes
  const DiffRow* first_other = nullptr;
  for (uint32_t i = 0; i < diff.rows.size(); ++i) {
    if (diff.rows[i].outcome == WriteOutcome::kDiffers) rows.push_back(i);
    if (diff.rows[i].outcome == WriteOutcome::kNotCompared && others++ == 0)
      first_other = &diff.rows[i];
  }
  std::map<uint32_t, std::string> found;  // by row; empty: within the tolerance
  const auto take = [&](uint32_t row, const WriteDifference& d, const Tensor& a, const Tensor& b) {
    std::string& text = found[row];
    const int64_t first = first_outside(a, b, tolerance);
    if (first < 0) return true;
    const DiffRow& r = diff.rows[row];
    const Box& box = diff.tensor(r).boxes[static_cast<size_t>(diff.write(r).rank)];
    text = fmt::format("{} is {} in A, {} in B; {}", index_text(box.index_at(first)),
                       format_number(a, first), format_number(b, first), describe(d));
    return true;
  };
  const auto measured = measure_rows(diff, rows, kMostHeldBytes, take, stop);
  if (stop.stop_requested()) return tl::unexpected(measured.error());
  if (!measured) {
    out.notes.push_back("Contents that the logs did not keep were compared by digest: " +
                        measured.error().message() + ".");
  }
  std::set<std::string> told;
  for (const uint32_t row : rows) {
    const auto text = found.find(row);
    if (text != found.end() && text->second.empty()) continue;
    const DiffRow& r = diff.rows[row];
    if (!told.insert(diff.tensor(r).name).second) continue;
    out.differences.push_back(fmt::format("{} (event {} in A, {} in B): {}.", diff.place(r),
                                          diff.write_a(r)->event, diff.write_b(r)->event,
                                          text == found.end() ? "other contents" : text->second));
  }
  if (first_other != nullptr) {
    out.differences.push_back(
        fmt::format("{} write{} other parts or shapes of their tensors, so contents were not "
                    "compared, the first: {}.",
                    others, others == 1 ? " is of" : "s are of", diff.place(*first_other)));
  }
  return out;
}

}  // namespace hostir::interp
