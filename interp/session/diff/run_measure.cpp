// Measures rows, with contents from the logs or from running again.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "interp/session/diff/run_diff.h"

namespace hostir::interp {

namespace {

PastWrite past_write(const RunWrite& w) {
  return {w.event, static_cast<int64_t>(w.tensor), w.rank};
}

std::optional<Tensor> logged(const DiffSide& side, const RunWrite& w) {
  if (!w.has_data) return std::nullopt;
  auto contents = side.log->contents({w.event, w.row, w.rank});
  if (!contents) return std::nullopt;
  return std::move(*contents);
}

class Measuring {
 public:
  Measuring(const RunDiff& diff, const TakeDifference& take) : diff_(diff), take_(take) {}

  Expected<void> run(const std::vector<uint32_t>& rows, const std::stop_token& stop) {
    HOSTIR_TRY(read_a(rows, stop));
    HOSTIR_TRY(read_b(rows, stop));
    if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
    return {};
  }
  bool enough() const { return enough_; }

 private:
  Expected<void> read_a(const std::vector<uint32_t>& rows, const std::stop_token& stop) {
    std::map<PastWrite, uint32_t> missing;
    for (const uint32_t row : rows) {
      const RunWrite& w = *diff_.write_a(diff_.rows[row]);
      if (auto contents = logged(diff_.a, w))
        held_[row] = std::move(*contents);
      else
        missing[past_write(w)] = row;
      if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
    }
    return again(diff_.a, missing, stop, [&](uint32_t row, Tensor contents) {
      held_[row] = std::move(contents);
      return true;
    });
  }

  Expected<void> read_b(const std::vector<uint32_t>& rows, const std::stop_token& stop) {
    std::map<PastWrite, uint32_t> missing;
    for (const uint32_t row : rows) {
      const RunWrite& w = *diff_.write_b(diff_.rows[row]);
      if (auto contents = logged(diff_.b, w)) {
        if (!finish(row, std::move(*contents))) return {};
      } else if (held_.contains(row)) {
        missing[past_write(w)] = row;
      }
      if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
    }
    return again(diff_.b, missing, stop,
                 [&](uint32_t row, Tensor contents) { return finish(row, std::move(contents)); });
  }

  template <class Take>
  static Expected<void> again(const DiffSide& side, const std::map<PastWrite, uint32_t>& missing,
                              const std::stop_token& stop, const Take& take) {
    if (missing.empty()) return {};
    std::vector<PastWrite> writes;
    for (const auto& [write, row] : missing) writes.push_back(write);
    return side.run->past_contents(
        writes,
        [&](const PastWrite& write, Tensor contents) {
          const auto row = missing.find(write);
          return row == missing.end() || take(row->second, std::move(contents));
        },
        stop);
  }

  bool finish(uint32_t row, Tensor b) {
    const auto a = held_.find(row);
    if (a == held_.end() || a->second.extents != b.extents || a->second.dtype != b.dtype)
      return true;
    Tensor contents = std::move(a->second);
    held_.erase(a);
    const WriteDifference difference = measure(contents, b);
    if (take_(row, difference, std::move(contents), std::move(b))) return true;
    enough_ = true;
    return false;
  }

  const RunDiff& diff_;
  const TakeDifference& take_;
  std::map<uint32_t, Tensor> held_;  // of A
  bool enough_ = false;
};

int64_t bytes_of(const RunDiff& diff, const DiffRow& row) {
  const LogTensor& tensor = diff.tensor(row);
  return tensor.boxes[static_cast<size_t>(diff.write(row).rank)].volume() *
         size_bytes(tensor.dtype);
}

}  // namespace

Expected<void> measure_rows(const RunDiff& diff, const std::vector<uint32_t>& rows,
                            int64_t max_bytes, const TakeDifference& take,
                            const std::stop_token& stop) {
  for (size_t at = 0; at < rows.size();) {
    std::vector<uint32_t> part;
    int64_t bytes = 0;
    for (; at < rows.size() && (part.empty() || bytes < max_bytes); ++at) {
      const DiffRow& row = diff.rows[rows[at]];
      if (!diff.is_comparable(row)) continue;
      bytes += bytes_of(diff, row);
      part.push_back(rows[at]);
    }
    Measuring measuring(diff, take);
    HOSTIR_TRY(measuring.run(part, stop));
    if (measuring.enough()) return {};
  }
  return {};
}

}  // namespace hostir::interp
