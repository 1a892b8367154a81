// How long the events of one instruction took: count, sum, extremes, deviation and a histogram.
//
// The histogram has 16 bins per doubling of the time (6 % wide), so its size does not depend on the
// number of events. Each bin has the sum of its durations: the median is the mean of its bin, which
// is exact if all durations of the bin are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace hostir::interp {

class Durations {
 public:
  struct Bin {
    int32_t index = 0;  // ascending
    int64_t count = 0;
    int64_t total_ns = 0;
  };

  /// Negative durations count as 0.
  void add(int64_t duration_ns, int64_t event);

  int64_t count() const { return count_; }
  int64_t total_ns() const { return total_ns_; }
  int64_t least_ns() const { return count_ == 0 ? 0 : least_ns_; }
  int64_t most_ns() const { return most_ns_; }
  /// -1 if there is none.
  int64_t shortest_event() const { return shortest_event_; }
  int64_t longest_event() const { return longest_event_; }
  double mean_ns() const;
  double median_ns() const;
  double deviation_ns() const;
  const std::vector<Bin>& bins() const { return bins_; }

  /// The bin of a duration, and the range of durations of a bin: [first, second).
  static int32_t bin_of(int64_t duration_ns);
  static std::pair<int64_t, int64_t> range_of(int32_t bin);

 private:
  Bin& bin(int32_t index);

  int64_t count_ = 0;
  int64_t total_ns_ = 0;
  int64_t least_ns_ = std::numeric_limits<int64_t>::max();
  int64_t most_ns_ = 0;
  int64_t shortest_event_ = -1;
  int64_t longest_event_ = -1;
  double squares_ = 0;
  std::vector<Bin> bins_;
  size_t last_bin_ = 0;  // consecutive events often share one
};

}  // namespace hostir::interp
