#include "interp/session/log/durations.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hostir::interp {

namespace {

constexpr int kBits = 4;  // 16 bins per doubling
constexpr int32_t kPerDoubling = 1 << kBits;

}  // namespace

int32_t Durations::bin_of(int64_t duration_ns) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(duration_ns, 0));
  if (ns < kPerDoubling) return static_cast<int32_t>(ns);
  const auto doubling = static_cast<int>(std::bit_width(ns)) - 1 - kBits;  // of 16 ns
  return (doubling + 1) * kPerDoubling + static_cast<int32_t>((ns >> doubling) - kPerDoubling);
}

std::pair<int64_t, int64_t> Durations::range_of(int32_t bin) {
  if (bin < kPerDoubling) return {bin, bin + 1};
  const int doubling = bin / kPerDoubling - 1;
  const int64_t first = int64_t{bin % kPerDoubling + kPerDoubling} << doubling;
  return {first, first + (int64_t{1} << doubling)};
}

Durations::Bin& Durations::bin(int32_t index) {
  if (last_bin_ < bins_.size() && bins_[last_bin_].index == index) return bins_[last_bin_];
  const auto at = std::lower_bound(bins_.begin(), bins_.end(), index,
                                   [](const Bin& b, int32_t wanted) { return b.index < wanted; });
  last_bin_ = static_cast<size_t>(at - bins_.begin());
  if (at != bins_.end() && at->index == index) return *at;
  return *bins_.insert(at, Bin{index, 0, 0});
}

void Durations::add(int64_t duration_ns, int64_t event) {
  const int64_t ns = std::max<int64_t>(duration_ns, 0);
  if (count_ == 0 || ns < least_ns_) {
    least_ns_ = ns;
    shortest_event_ = event;
  }
  if (count_ == 0 || ns > most_ns_) {
    most_ns_ = ns;
    longest_event_ = event;
  }
  ++count_;
  total_ns_ += ns;
  squares_ += static_cast<double>(ns) * static_cast<double>(ns);
  Bin& b = bin(bin_of(ns));
  ++b.count;
  b.total_ns += ns;
}

double Durations::mean_ns() const {
  return count_ == 0 ? 0 : static_cast<double>(total_ns_) / static_cast<double>(count_);
}

double Durations::median_ns() const {
  int64_t below = 0;
  for (const Bin& b : bins_) {
    below += b.count;
    if (2 * below >= count_) return static_cast<double>(b.total_ns) / static_cast<double>(b.count);
  }
  return 0;
}

double Durations::deviation_ns() const {
  if (count_ == 0) return 0;
  const double mean = mean_ns();
  return std::sqrt(std::max(0.0, squares_ / static_cast<double>(count_) - mean * mean));
}

}  // namespace hostir::interp
