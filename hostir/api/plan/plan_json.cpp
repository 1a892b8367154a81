#include "hostir/api/plan/plan_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostir/support/json_text.h"

namespace hostir::api {

namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Plan& plan, double memory_bytes) {
  ordered_json out;
  for (const MeshAxis& axis : plan.axes) out["mesh"][axis.name] = axis.size;
  out["as_written"] = plan.as_written;
  out["cuts"] = ordered_json::array();
  for (const PlanCut& c : plan.cuts)
    out["cuts"].push_back({{"value", c.value}, {"dimension", c.dim}, {"axis", c.axis}});
  out["time_ns"] = plan.time_ns;
  out["exact"] = plan.exact;
  out["peak_bytes"] = plan.peak_bytes;
  out["fits"] = plan.fits;
  out["excess_bytes"] = plan.fits ? 0 : plan.peak_bytes - static_cast<int64_t>(memory_bytes);
  out["memory"] = ordered_json::object();
  for (const auto& [name, bytes] : plan.memory.parts()) out["memory"][name] = bytes;
  out["compute_ns"] = plan.times.compute_ns;
  out["collectives_ns"] = ordered_json::object();
  for (const auto& [axes, ns] : plan.times.collectives_ns) out["collectives_ns"][axes] = ns;
  out["collectives"] = ordered_json::array();
  for (const interp::CollectiveCount& c : plan.collectives) {
    out["collectives"].push_back(
        {{"kind", c.kind}, {"over", c.over}, {"bytes", c.bytes}, {"count", c.count}});
  }
  out["shardings"] = ordered_json::object();
  for (const auto& [name, sharding] : plan.shardings) out["shardings"][name] = sharding.to_string();
  return out;
}

}  // namespace

std::string plans_json(const std::string& function, const Machine& machine,
                       std::span<const PlansForRanks> tried) {
  ordered_json out = {{"function", function},
                      {"machine", machine.name},
                      {"memory_bytes", static_cast<int64_t>(machine.memory_bytes)},
                      {"ranks", nullptr},
                      {"best", nullptr},
                      {"tried", ordered_json::array()}};
  for (const PlansForRanks& each : tried) {
    ordered_json plans = ordered_json::array();
    for (const Plan& plan : each.plans.found) plans.push_back(to_json(plan, machine.memory_bytes));
    if (out["best"].is_null() && each.best().fits) {
      out["ranks"] = each.ranks;
      out["best"] = plans.front();
    }
    out["tried"].push_back({{"ranks", each.ranks},
                            {"candidates", each.plans.candidates},
                            {"layers", each.plans.layers},
                            {"fits", each.best().fits},
                            {"plans", std::move(plans)}});
  }
  return json_text(out) + "\n";
}

}  // namespace hostir::api
