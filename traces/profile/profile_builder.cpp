#include "traces/profile/profile_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hostir::traces::profile {

namespace {

std::string text_of(const Call& c) {
  const auto number = [](const auto& value) {
    return value ? std::to_string(static_cast<int64_t>(*value)) : std::string("?");
  };
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(c.shape), c.group, c.name,
                     number(c.dtype), number(c.reduction), number(c.in_elems), number(c.out_elems),
                     number(c.bytes), number(c.root), number(c.peer), number(c.peer_place));
}

}  // namespace

uint32_t ProfileBuilder::name(std::string_view text) {
  std::string key(text.substr(0, kMostNameBytes));
  const auto known = names_.find(key);
  if (known != names_.end()) return known->second;
  if (profile_.names.size() >= kMostNames) return kNone;
  const auto id = static_cast<uint32_t>(profile_.names.size());
  profile_.names.push_back(key);
  names_.emplace(std::move(key), id);
  return id;
}

uint32_t ProfileBuilder::group(const Group& group) {
  std::vector<Group>& groups = profile_.groups;
  const auto at =
      static_cast<size_t>(std::find(groups.begin(), groups.end(), group) - groups.begin());
  if (at == groups.size()) groups.push_back(group);
  return static_cast<uint32_t>(at);
}

uint32_t ProfileBuilder::call(const Call& call) {
  const auto [at, added] =
      calls_.try_emplace(text_of(call), static_cast<uint32_t>(profile_.calls.size()));
  if (added) profile_.calls.push_back(call);
  return at->second;
}

Expected<void> ProfileBuilder::add(Row row, int64_t duration_ns, uint64_t correlation) {
  if (profile_.rows.size() >= kMostRows) {
    return fail(ErrorKind::kInvalid, "profile_size",
                fmt::format("the profile has more than {} kernels and copies; record fewer steps",
                            kMostRows));
  }
  const bool placed = row.begin_ns <= kMostNs && row.begin_ns >= -kMostNs;
  const bool lasts = duration_ns >= 0 && duration_ns <= kMostNs;
  if (!placed || !lasts) ++bad_times_;
  if (!placed) return {};
  row.end_ns = row.begin_ns + (lasts ? duration_ns : 0);
  profile_.rows.push_back(row);
  correlations_.push_back(correlation);
  return {};
}

ProcessProfile ProfileBuilder::finish() && {
  std::stable_sort(launches_.begin(), launches_.end());
  std::vector<Row>& rows = profile_.rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (correlations_[i] == 0) continue;
    const auto at = std::lower_bound(
        launches_.begin(), launches_.end(), correlations_[i],
        [](const auto& launch, uint64_t correlation) { return launch.first < correlation; });
    if (at != launches_.end() && at->first == correlations_[i]) rows[i].issued_ns = at->second;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.begin_ns < b.begin_ns; });
  std::stable_sort(profile_.steps.begin(), profile_.steps.end(),
                   [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
  if (bad_times_ > 0) {
    profile_.remarks.push_back(
        fmt::format("{} events with a negative or impossible time", bad_times_));
  }
  return std::move(profile_);
}

std::string_view nccl_kernel_op(std::string_view kernel) {
  for (const std::string_view prefix :
       {"ncclDevKernel_", "ncclKernel_", "ncclSymDevKernel_", "rcclGenericKernel_"}) {
    if (!kernel.starts_with(prefix)) continue;
    kernel.remove_prefix(prefix.size());
    return kernel.substr(0, kernel.find_first_of("_(<"));
  }
  return {};
}

std::optional<Reduction> nccl_kernel_reduction(std::string_view kernel) {
  using Named = std::pair<std::string_view, Reduction>;
  constexpr std::array kNamed = std::to_array<Named>({{"_Sum_", Reduction::kSum},
                                                      {"_Prod_", Reduction::kProd},
                                                      {"_Max_", Reduction::kMax},
                                                      {"_Min_", Reduction::kMin},
                                                      {"_Avg_", Reduction::kAvg}});
  if (nccl_kernel_op(kernel).empty()) return std::nullopt;
  for (const auto& [word, reduction] : kNamed) {
    if (kernel.substr(0, 128).find(word) != std::string_view::npos) return reduction;
  }
  return std::nullopt;
}

}  // namespace hostir::traces::profile
