#include "hostir/api/plan_order.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace hostir::api {

namespace {

constexpr size_t kTriedAgain = 16;
constexpr double kEqual = 1e-3;  // by which part plans may differ that count as equal

bool is_about(int64_t a, int64_t b) {
  return static_cast<double>(a) <= static_cast<double>(b) * (1 + kEqual);
}

}  // namespace

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
