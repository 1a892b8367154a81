#include "hostir/api/plan/plan_order.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "hostir/support/lists.h"

namespace hostir::api {

namespace {

constexpr size_t kTriedAgain = 16;
constexpr double kFarFromFitting = 4;  // times the memory of a rank
constexpr size_t kMostDetours = 4;     // of a search on a mesh
constexpr size_t kMostExact = 4;       // plans predicted with all layers; each takes seconds
constexpr double kEqual = 1e-3;        // relative difference up to which plans count as equal
constexpr int64_t kSavesMuch = 4;      // cuts that save this many times less are made later
constexpr double kAlike = 0.02;        // relative difference up to which plans count as similar

bool is_about(int64_t a, int64_t b) {
  return static_cast<double>(a) <= static_cast<double>(b) * (1 + kEqual);
}

bool is_alike(int64_t a, int64_t b) {
  return std::abs(static_cast<double>(a - b)) <= kAlike * static_cast<double>(std::max(a, b));
}

double factor_between(int64_t expected, int64_t found) {
  return expected > 0 && found > expected
             ? static_cast<double>(found) / static_cast<double>(expected)
             : 1;
}

int64_t times(int64_t value, double factor) {
  return static_cast<int64_t>(static_cast<double>(value) * factor);
}

// True if the plan cuts the cut's value over the cut's axis.
bool cuts_over(const Plan& plan, const PlanCut& cut) {
  return std::any_of(plan.shardings.begin(), plan.shardings.end(), [&](const auto& held) {
    return held.first == cut.value &&
           std::any_of(held.second.dims.begin(), held.second.dims.end(),
                       [&](const auto& dim) { return contains(dim.axes, AxisRef{cut.axis}); });
  });
}

}  // namespace

bool fits_in(double memory_bytes, int64_t peak_bytes) {
  return memory_bytes <= 0 || static_cast<double>(peak_bytes) <= memory_bytes;
}

size_t preferred_plan(std::span<const Plan* const> plans) {
  const auto least_memory = [](const Plan* a, const Plan* b) {
    return a->peak_bytes < b->peak_bytes;
  };
  const Plan* fastest = nullptr;
  for (const Plan* plan : plans) {
    if (plan->fits && (fastest == nullptr || plan->time_ns < fastest->time_ns)) fastest = plan;
  }
  if (fastest == nullptr)
    return static_cast<size_t>(std::min_element(plans.begin(), plans.end(), least_memory) -
                               plans.begin());
  // Compared with the fastest, never with one another: steps of 0.1 % would add up.
  size_t best = plans.size();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i]->fits || !is_about(plans[i]->time_ns, fastest->time_ns)) continue;
    if (best == plans.size() || plans[i]->peak_bytes < plans[best]->peak_bytes) best = i;
  }
  return best;
}

bool is_as_good(const Plan& a, const Plan& b) {
  if (a.fits != b.fits) return a.fits;
  return is_about(a.peak_bytes, b.peak_bytes) && (!a.fits || is_about(a.time_ns, b.time_ns));
}

bool is_ranked_before(const Plan& a, const Plan& b) {
  if (a.fits != b.fits) return a.fits;
  if (!a.fits) return a.peak_bytes < b.peak_bytes;
  return std::tie(a.time_ns, a.peak_bytes) < std::tie(b.time_ns, b.peak_bytes);
}

const Plan* next_to_extend(std::span<const Plan* const> seen, const std::set<const Plan*>& extended,
                           double memory_bytes, size_t& detours) {
  if (seen.empty()) return nullptr;
  const Plan* best = seen[preferred_plan(seen)];
  if (!extended.contains(best)) return best;
  const bool far_from_fitting =
      memory_bytes > 0 && static_cast<double>(best->peak_bytes) > kFarFromFitting * memory_bytes;
  if (!far_from_fitting || detours++ == kMostDetours) return nullptr;
  std::vector<const Plan*> others(seen.begin(), seen.end());
  std::erase_if(others, [&](const Plan* plan) { return extended.contains(plan); });
  return others.empty() ? nullptr : others[preferred_plan(others)];
}

void rank_cuts(std::vector<TriedCut>& tried) {
  std::ranges::stable_sort(tried, [](const TriedCut& a, const TriedCut& b) {
    return is_ranked_before(*a.plan, *b.plan);
  });
  if (tried.empty() || !tried.front().plan->fits) return;
  const int64_t fastest = tried.front().plan->time_ns;
  const auto rest = std::ranges::find_if(tried, [&](const TriedCut& each) {
    return !each.plan->fits || !is_about(each.plan->time_ns, fastest);
  });
  std::stable_sort(tried.begin(), rest, [](const TriedCut& a, const TriedCut& b) {
    return a.plan->peak_bytes < b.plan->peak_bytes;
  });
}

std::vector<PlanCut> joint_cuts(const Plan& from, std::vector<TriedCut> tried) {
  if (tried.empty()) return {};
  const Plan& best = *tried.front().plan;
  if (best.fits && !is_about(from.time_ns, best.time_ns)) return {};
  const int64_t least_saved =
      std::max<int64_t>(1, (from.peak_bytes - best.peak_bytes) / kSavesMuch);
  std::erase_if(tried, [&](const TriedCut& each) {
    return (best.fits && !is_about(each.plan->time_ns, from.time_ns)) ||
           from.peak_bytes - each.plan->peak_bytes < least_saved;
  });
  std::vector<PlanCut> out;
  while (!tried.empty()) {
    const TriedCut best_cut = tried.front();
    out.push_back(best_cut.cut);
    std::erase_if(tried, [&](const TriedCut& each) {
      const PlanCut& cut = each.cut;
      return (cut.value == best_cut.cut.value && cut.axis == best_cut.cut.axis) ||
             cuts_over(*best_cut.plan, cut);
    });
  }
  return out;
}

size_t next_to_predict(std::span<const Plan> plans, size_t exact_plans) {
  std::vector<const Plan*> all;
  for (const Plan& plan : plans) all.push_back(&plan);
  const size_t best = preferred_plan(all);
  const auto first_that = [&](const auto& holds) {
    return static_cast<size_t>(std::find_if(plans.begin(), plans.end(), holds) - plans.begin());
  };
  const size_t known = first_that([](const Plan& plan) { return plan.exact; });
  if (known == plans.size()) return best;
  if (is_as_good(plans[known], plans[best])) return known;
  if (exact_plans < kMostExact) return best;
  if (plans[known].fits) return known;
  const size_t written =
      first_that([](const Plan& plan) { return plan.as_written && !plan.exact; });
  if (written < known) return written;
  return plans[best].fits && exact_plans < 2 * kMostExact ? best : known;
}

OverestimatedPlan overestimate(const Plan& expected, const Plan& found) {
  return {.axes = expected.axes,
          .expected_ns = expected.time_ns,
          .expected_bytes = expected.peak_bytes,
          .time_factor = factor_between(expected.time_ns, found.time_ns),
          .memory_factor = factor_between(expected.peak_bytes, found.peak_bytes)};
}

void expect_alike(Plan& plan, const OverestimatedPlan& overestimate, double memory_bytes) {
  if (plan.exact || plan.axes != overestimate.axes) return;
  if (is_alike(plan.time_ns, overestimate.expected_ns))
    plan.time_ns = times(plan.time_ns, overestimate.time_factor);
  if (is_alike(plan.peak_bytes, overestimate.expected_bytes))
    plan.peak_bytes = times(plan.peak_bytes, overestimate.memory_factor);
  plan.fits = fits_in(memory_bytes, plan.peak_bytes);
}

void drop_equal(std::vector<Plan>& plans) {
  std::set<std::tuple<bool, int64_t, int64_t, std::string>> known;
  std::erase_if(plans, [&](const Plan& plan) {
    return !known.insert({plan.as_written, plan.time_ns, plan.peak_bytes, plan.placement}).second;
  });
}

void keep_promising(std::vector<PlanCut>& cuts, const std::vector<PlanCut>& ranking) {
  const size_t kept = std::max(kTriedAgain, ranking.size() / 2);
  if (kept >= ranking.size()) return;
  const std::set<PlanCut> promising(ranking.begin(),
                                    ranking.begin() + static_cast<std::ptrdiff_t>(kept));
  std::erase_if(cuts, [&](const PlanCut& cut) { return promising.count(cut) == 0; });
}

}  // namespace hostir::api
