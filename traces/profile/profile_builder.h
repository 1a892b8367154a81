// Builds a ProcessProfile: numbers the names, groups and calls, and once everything has been read
// gives each device row the time of its launch.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "traces/profile/profile.h"

namespace hostir::traces::profile {

class ProfileBuilder {
 public:
  ProcessProfile& profile() { return profile_; }

  /// Interns a name; long ones are cut. kNone once there are too many.
  uint32_t name(std::string_view text);
  uint32_t group(const Group& group);
  uint32_t call(const Call& call);
  /// A remark reports impossible durations, which become 0, and rows at impossible times, which are
  /// left out. `correlation` is that of the launch, or 0 if it is unknown. Errors: `profile_size`.
  Expected<void> add(Row row, int64_t duration_ns, uint64_t correlation);
  void launch(uint64_t correlation, int64_t at_ns) { launches_.emplace_back(correlation, at_ns); }
  /// Adds `base_ns` to the times of all launches so far.
  void shift_launches(int64_t base_ns) {
    for (auto& launch : launches_) launch.second += base_ns;
  }
  /// Correlations of rows, in the order of profile().rows.
  const std::vector<uint64_t>& correlations() const { return correlations_; }

  ProcessProfile finish() &&;

 private:
  ProcessProfile profile_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<std::string, uint32_t> calls_;
  std::vector<uint64_t> correlations_;
  std::vector<std::pair<uint64_t, int64_t>> launches_;
  size_t bad_times_ = 0;
};

/// `AllReduce` in `ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)`; empty if it is not a kernel of
/// NCCL or RCCL.
std::string_view nccl_kernel_op(std::string_view kernel);
/// The reduction in such a name.
std::optional<Reduction> nccl_kernel_reduction(std::string_view kernel);

}  // namespace hostir::traces::profile
