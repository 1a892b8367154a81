// Compiled kernels of a program's launches, one per distinct placement of the operands.
//
// Ranks share a plan if their operands have the same placements, or differ only in which part of
// the global values they cover (relative_boxes.h). Plans are found by the addresses of the
// placements, which are stable for static layouts, and otherwise by their contents. The `bound` of
// a shared plan is that of the rank that made it. The backend defines the plan type, which has a
// member `bound`, and passes a function that makes one. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hostir/support/hash.h"
#include "kernels/common/bind_kernel.h"
#include "kernels/common/relative_boxes.h"

namespace hostir::kernels {

/// One launch instruction on one rank with its operands, parameters and results in the kernel's
/// order.
struct LaunchSite {
  uint32_t code = 0;  // index of the instruction
  int32_t rank = 0;
  const Function* kernel = nullptr;
  std::span<const Placement* const> parameters;
  std::span<const Placement* const> results;
};

template <class Plan>
class LaunchPlans {
 public:
  /// Compiles a bound kernel; sets the plan's `bound`.
  using Make = std::function<Expected<std::unique_ptr<Plan>>(BoundKernel)>;

  explicit LaunchPlans(Make make) : make_(std::move(make)) {}

  /// The plan of a launch with these placements, created if missing; owned by this object.
  /// Errors: those of bind_kernel() and of `make`.
  Expected<Plan*> find(const Program& program, const LaunchSite& site) {
    Recent& recent = recent_[{site.code, site.rank}];
    if (recent.is(site)) return recent.plan;
    HOSTIR_ASSIGN_OR_RETURN(recent.plan, find_or_make(program, site));
    recent.placements.assign(site.parameters.begin(), site.parameters.end());
    recent.placements.insert(recent.placements.end(), site.results.begin(), site.results.end());
    return recent.plan;
  }

  /// The number of different plans.
  size_t size() const {
    size_t count = 0;
    for (const auto& [kernel, plans] : plans_) count += plans.size();
    return count;
  }

  /// The plan that a launch used last, or nullptr.
  Plan* last(uint32_t code, int32_t rank) const {
    const auto found = recent_.find({code, rank});
    return found == recent_.end() ? nullptr : found->second.plan;
  }

 private:
  struct Recent {
    std::vector<const Placement*> placements;
    Plan* plan = nullptr;

    bool is(const LaunchSite& site) const {
      return plan != nullptr && placements.size() == site.parameters.size() + site.results.size() &&
             std::equal(site.parameters.begin(), site.parameters.end(), placements.begin()) &&
             std::equal(site.results.begin(), site.results.end(),
                        placements.begin() + static_cast<std::ptrdiff_t>(site.parameters.size()));
    }
  };

  /// Plans of a kernel for operands with the global shapes of `boxes`, by their relative boxes.
  struct Relatives {
    RelativeBoxes boxes;
    std::map<std::vector<int64_t>, Plan*> plans;
  };

  Expected<Plan*> find_or_make(const Program& program, const LaunchSite& site) {
    auto& relatives = relatives_[site.kernel];
    for (Relatives& r : relatives) {
      const auto key = r.boxes.describe(program, site.rank, site.parameters, site.results);
      if (!key) continue;
      Plan*& plan = r.plans[*key];
      if (plan == nullptr) {
        HOSTIR_ASSIGN_OR_RETURN(plan, find_or_make_bound(program, site));
      }
      return plan;
    }
    HOSTIR_ASSIGN_OR_RETURN(Plan * plan, find_or_make_bound(program, site));
    HOSTIR_ASSIGN_OR_RETURN(auto boxes, RelativeBoxes::of(program, plan->bound));
    if (!boxes) return plan;
    const auto key = boxes->describe(program, site.rank, site.parameters, site.results);
    if (key) relatives.push_back({std::move(*boxes), {{*key, plan}}});
    return plan;
  }

  Expected<Plan*> find_or_make_bound(const Program& program, const LaunchSite& site) {
    HOSTIR_ASSIGN_OR_RETURN(BoundKernel bound, bind_kernel(program, *site.kernel, site.rank,
                                                           site.parameters, site.results));
    auto& known = plans_[site.kernel];
    const uint64_t key = hash_of(bound);
    const auto [begin, end] = known.equal_range(key);
    for (auto plan = begin; plan != end; ++plan) {
      const BoundKernel& other = plan->second->bound;
      if (other.identity_only == bound.identity_only && other.values == bound.values) {
        return plan->second.get();
      }
    }
    HOSTIR_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, make_(std::move(bound)));
    return known.emplace(key, std::move(plan))->second.get();
  }

  // Hashes the placements of the values: with many ranks, a kernel has many plans.
  static uint64_t hash_of(const BoundKernel& bound) {
    std::vector<uint64_t> words(bound.identity_only.begin(), bound.identity_only.end());
    for (const Placement& value : bound.values) {
      words.insert(words.end(), value.box.lo.begin(), value.box.lo.end());
      words.insert(words.end(), value.box.hi.begin(), value.box.hi.end());
    }
    return hostir::hash_of(words);
  }

  Make make_;
  std::map<const Function*, std::unordered_multimap<uint64_t, std::unique_ptr<Plan>>> plans_;
  std::map<const Function*, std::vector<Relatives>> relatives_;
  std::map<std::pair<uint32_t, int32_t>, Recent> recent_;
};

}  // namespace hostir::kernels
