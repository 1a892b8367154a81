#include "interp/session/diff/run_diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace hostir::interp {

namespace {

// Identifies a write by numbers that mean the same on both sides.
struct Key {
  Rank rank = 0;
  CodeIndex instruction = 0;  // index in A; instructions only in B are numbered from the end
  uint32_t loop = 0;
  uint32_t tensor = 0;
  uint32_t nth = 0;  // among otherwise equal writes, in order of event
  uint32_t write = 0;
  auto parts() const { return std::tie(rank, instruction, loop, tensor, nth); }
};

// Gives each string a number; both sides share the numbers.
class Names {
 public:
  uint32_t number(const std::string& text) {
    return numbers_.emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

std::vector<Key> keys_of(const DiffSide& side, const std::vector<CodeIndex>* to_a, Names& loops,
                         Names& tensors) {
  std::vector<uint32_t> loop_numbers;
  for (const std::string& text : side.writes->loops) loop_numbers.push_back(loops.number(text));
  std::vector<uint32_t> tensor_numbers;
  for (const LogTensor& tensor : side.log->tensors())
    tensor_numbers.push_back(tensors.number(tensor.name));
  std::vector<Key> keys;
  keys.reserve(side.writes->writes.size());
  for (size_t i = 0; i < side.writes->writes.size(); ++i) {
    const RunWrite& w = side.writes->writes[i];
    CodeIndex instruction = w.instruction;
    if (to_a) {
      const bool known = instruction < to_a->size() && (*to_a)[instruction] != kNoInstruction;
      instruction = known ? (*to_a)[instruction] : kNoInstruction - 1 - instruction;
    }
    keys.push_back({w.rank, instruction, loop_numbers[w.loop], tensor_numbers[w.tensor], 0,
                    static_cast<uint32_t>(i)});
  }
  // Stable: equal keys stay in order of event.
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& x, const Key& y) { return x.parts() < y.parts(); });
  for (size_t i = 1; i < keys.size(); ++i) {
    Key before = keys[i - 1];
    const uint32_t nth = before.nth;
    before.nth = 0;
    if (before.parts() == keys[i].parts()) keys[i].nth = nth + 1;
  }
  return keys;
}

WriteOutcome outcome_of(const RunDiff& diff, const DiffRow& row) {
  if (row.a == kNoWrite)
    return diff.a.writes->finished ? WriteOutcome::kOnlyB : WriteOutcome::kNotReached;
  if (row.b == kNoWrite)
    return diff.b.writes->finished ? WriteOutcome::kOnlyA : WriteOutcome::kNotReached;
  if (!diff.is_comparable(row)) return WriteOutcome::kNotCompared;
  return diff.write_a(row)->digest == diff.write_b(row)->digest ? WriteOutcome::kEqual
                                                                : WriteOutcome::kDiffers;
}

// Sorts rows by completion in B. A row only in A follows its predecessor in A on the same rank.
void sort_rows(RunDiff& diff) {
  struct Order {
    int64_t time = std::numeric_limits<int64_t>::min();
    int64_t event = -1;
    int64_t event_a = -1;  // for rows only in A
    auto parts() const { return std::tie(time, event, event_a); }
  };
  std::vector<Order> order(diff.rows.size());
  std::vector<uint32_t> row_of_a(diff.a.writes->writes.size(), kNoWrite);
  for (size_t i = 0; i < diff.rows.size(); ++i) {
    const DiffRow& row = diff.rows[i];
    if (row.a != kNoWrite) row_of_a[row.a] = static_cast<uint32_t>(i);
    if (row.b == kNoWrite) continue;
    const RunWrite& w = *diff.write_b(row);
    // Writes in flight when the log ended sort after all others.
    order[i] = {w.time_ns == kUnknownNs ? std::numeric_limits<int64_t>::max() : w.time_ns, w.event};
  }
  std::map<Rank, Order> last;
  for (size_t a = 0; a < row_of_a.size(); ++a) {
    const RunWrite& w = diff.a.writes->writes[a];
    Order& here = order[row_of_a[a]];
    if (diff.rows[row_of_a[a]].b == kNoWrite) {
      here = last[w.rank];
      here.event_a = w.event;
    } else {
      last[w.rank] = here;
    }
  }
  std::vector<uint32_t> sorted(diff.rows.size());
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<uint32_t>(i);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](uint32_t x, uint32_t y) { return order[x].parts() < order[y].parts(); });
  std::vector<DiffRow> rows;
  rows.reserve(sorted.size());
  for (const uint32_t i : sorted) rows.push_back(diff.rows[i]);
  diff.rows = std::move(rows);
}

}  // namespace

std::string RunDiff::address(const DiffRow& r) const {
  const auto& all = side(r).log->instructions();
  const CodeIndex code = write(r).instruction;
  return code < all.size() ? all[code].address : "?";
}

bool RunDiff::is_comparable(const DiffRow& r) const {
  const RunWrite* x = write_a(r);
  const RunWrite* y = write_b(r);
  if (!x || !y) return false;
  const LogTensor& t = a.log->tensors()[x->tensor];
  const LogTensor& u = b.log->tensors()[y->tensor];
  const auto rank = static_cast<size_t>(x->rank);
  return t.dtype == u.dtype && t.extents == u.extents && rank < t.boxes.size() &&
         rank < u.boxes.size() && t.boxes[rank] == u.boxes[rank];
}

std::string RunDiff::place(const DiffRow& r) const {
  std::string out = fmt::format("%{} on rank {}, {}", tensor(r).name, write(r).rank, address(r));
  if (!loop(r).empty()) out += ", iteration " + loop(r);
  return out;
}

Expected<RunDiff> compare_runs(DiffSide a, DiffSide b, const std::stop_token& stop) {
  RunDiff diff;
  diff.a = std::move(a);
  diff.b = std::move(b);
  const std::vector<CodeIndex> to_a =
      align_instructions(diff.a.log->instructions(), diff.b.log->instructions());
  Names loops;
  Names tensors;
  const std::vector<Key> in_a = keys_of(diff.a, nullptr, loops, tensors);
  const std::vector<Key> in_b = keys_of(diff.b, &to_a, loops, tensors);
  if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
  diff.rows.reserve(std::max(in_a.size(), in_b.size()));
  for (size_t i = 0, j = 0; i < in_a.size() || j < in_b.size();) {
    const bool take_a = j == in_b.size() || (i < in_a.size() && in_a[i].parts() <= in_b[j].parts());
    const bool take_b = i == in_a.size() || (j < in_b.size() && in_b[j].parts() <= in_a[i].parts());
    DiffRow row;
    if (take_a) row.a = in_a[i++].write;
    if (take_b) row.b = in_b[j++].write;
    row.outcome = outcome_of(diff, row);
    diff.rows.push_back(row);
  }
  sort_rows(diff);
  if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
  HOSTIR_TRY(compare_structure(diff, to_a));
  return diff;
}

}  // namespace hostir::interp
