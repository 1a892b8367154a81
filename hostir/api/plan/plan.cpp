#include "hostir/api/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/api/plan/plan_candidate.h"
#include "hostir/api/plan/plan_layers.h"
#include "hostir/api/plan/plan_order.h"
#include "hostir/api/plan/plan_placement.h"
#include "hostir/api/plan/plan_workers.h"
#include "hostir/ops/apply.h"
#include "hostir/ops/differentiate.h"
#include "hostir/ops/value_meshes.h"
#include "hostir/passes/homes/repeated_layers.h"
#include "hostir/support/lists.h"
#include "interp/session/prepare/input_values.h"

namespace hostir::api {

namespace {

constexpr size_t kLeastAxes = 2;
constexpr std::array<size_t, 2> kSearchedLayers = {2, 4};
constexpr size_t kMoreLayers = 8;     // for plans that may be the best
constexpr size_t kRefinedAtOnce = 8;  // the same on every machine, or answers would differ

// A cut into more parts than there are elements leaves ranks without work.
bool can_cut(const TensorType& tensor, size_t dim, int64_t parts) {
  const IndexExpr size = tensor.shape[dim].simplified();
  return !size.is_const() || size.value() >= parts;
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request)
      : request_(request), name_(request.arguments.options.function) {}

  Expected<Plans> find() {
    HOSTIR_TRY(check());
    HOSTIR_ASSIGN_OR_RETURN(const SizeBindings sizes,
                            interp::sizes_from_inputs(function(), request_.arguments.inputs,
                                                      request_.arguments.options.sizes));
    workers_.emplace(PredictorOptions{.request = request_.backend,
                                      .sizes = sizes,
                                      .overlap = request_.arguments.options.overlap,
                                      .optimizer_numbers = request_.optimizer_numbers});
    HOSTIR_TRY(shorten(sizes));
    choose_mesh();
    const std::vector<MeshAxes> all = meshes();
    std::vector<MeshAxes> searched = all;
    if (request_.meshes.empty() && request_.fixed.empty() && !names_axes_inside(function()))
      drop_renamed(searched);
    std::vector<MeshAxes> tried = all;
    std::erase_if(tried, [&](const MeshAxes& axes) {
      return !is_written_for(axes) && !contains(searched, axes);
    });
    progress_.meshes = tried.size();
    for (const MeshAxes& axes : tried) {
      progress_.axes = axes;
      ++progress_.mesh;
      workers_->forget_meshes();
      if (is_written_for(axes)) evaluate({{.axes = axes, .as_written = true}});
      if (contains(searched, axes)) descend(axes);
      progress_.is_done = true;
      report();
      progress_.is_done = false;
    }
    if (plans_.empty() && error_) return tl::unexpected(std::move(*error_));
    progress_.axes.clear();
    report();
    Plans out;
    out.meshes = std::move(tried);
    out.layers = layers_ ? layers_->count : 1;
    for (auto& [key, plan] : plans_) out.found.push_back(plan);
    HOSTIR_TRY(put_best_first(out.found));
    const Plan best = out.found.front();
    HOSTIR_ASSIGN_OR_RETURN(out.without, without_each_cut(best));
    out.candidates = tried_.size();
    return out;
  }

 private:
  // Repeats until a plan that has been predicted with all layers wins.
  Expected<void> put_best_first(std::vector<Plan>& plans) {
    for (size_t exact_plans = 0;;) {
      std::stable_sort(plans.begin(), plans.end(), is_ranked_before);
      drop_equal(plans);
      const size_t next = next_to_predict(plans, exact_plans);
      std::rotate(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(next),
                  plans.begin() + static_cast<std::ptrdiff_t>(next + 1));
      Plan& first = plans.front();
      if (first.exact) return {};
      if (can_refine(first)) {
        HOSTIR_TRY(refine_first(plans, std::min(plans.size(), kRefinedAtOnce)));
        continue;
      }
      const Plan expected = first;
      HOSTIR_ASSIGN_OR_RETURN(first, exact(workers_->own(), of(first)));
      ++exact_plans;
      overestimates_.push_back(overestimate(expected, first));
      for (Plan& plan : plans) expect_alike(plan, overestimates_.back(), memory());
    }
  }

  // Refines the first plans.
  Expected<void> refine_first(std::vector<Plan>& plans, size_t count) {
    std::vector<Expected<Plan>> better(count);
    workers_->for_each(count, [&](Predictor& predictor, size_t i) {
      better[i] = can_refine(plans[i]) ? refined(predictor, plans[i]) : plans[i];
    });
    for (size_t i = 0; i < count; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(plans[i], std::move(better[i]));
    }
    return {};
  }

  Expected<std::vector<PlanWithout>> without_each_cut(const Plan& best) {
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < best.cuts.size() && !best.as_written; ++i) {
      candidates.push_back(of(best));
      std::vector<PlanCut>& cuts = candidates.back().cuts;
      cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const std::vector<const Plan*> plans = evaluate(candidates);
    std::vector<PlanWithout> out;
    for (size_t i = 0; i < plans.size(); ++i) {
      if (plans[i] != nullptr) out.push_back({best.cuts[i], *plans[i]});
    }
    std::vector<Plan> refined_plans;
    for (const PlanWithout& without : out) refined_plans.push_back(without.plan);
    HOSTIR_TRY(refine_first(refined_plans, out.size()));
    for (size_t i = 0; i < out.size(); ++i) out[i].plan = std::move(refined_plans[i]);
    return out;
  }

  static Candidate of(const Plan& plan) { return {plan.axes, plan.cuts, plan.as_written}; }

  bool can_refine(const Plan& plan) const {
    return !plan.exact && !plan.refined && short_.size() > kSearchedLayers.size();
  }

  // Peak memory is the highest of several moments. The moment that grows fastest with the number of
  // layers may not be the highest with four layers yet; with eight it mostly is. Predicting eight
  // layers takes a fraction of the time of predicting all.
  Expected<Plan> refined(Predictor& predictor, const Plan& plan) const {
    const NamedHomes homes = in_all_layers(plan.homes, role_);
    HOSTIR_ASSIGN_OR_RETURN(const Prediction few, predict(predictor, short_[1], of(plan), &homes));
    HOSTIR_ASSIGN_OR_RETURN(const Prediction many,
                            predict(predictor, short_.back(), of(plan), &homes));
    Plan out = finished(
        of(plan), extrapolated(few, many, {kSearchedLayers.back(), kMoreLayers, layers_->count}));
    out.shardings = plan.shardings;
    out.placement = plan.placement;
    out.exact = false;
    out.refined = true;
    for (const OverestimatedPlan& d : overestimates_) expect_alike(out, d, memory());
    return out;
  }

  // The layers that a search over the whole fusion would cut one by one.
  Expected<void> shorten(const SizeBindings& sizes) {
    const std::string& base = request_.gradient_of;
    const Function* fusion =
        base.empty() ? &function() : request_.arguments.program->find_function(base);
    if (fusion == nullptr) return {};
    const std::optional<std::string> size = layer_size(*fusion);
    const std::optional<int64_t> passes = size ? sizes.find(*size) : std::nullopt;
    if (passes) {
      layers_.emplace().count = static_cast<size_t>(*passes);
    } else {
      layers_ = repeated_layers(*fusion);
    }
    if (!layers_ || layers_->count <= kSearchedLayers.back() || names_layers()) {
      layers_.reset();
      return {};
    }
    for (const std::vector<std::string>& layer : layers_->parameters) {
      for (size_t i = 0; i < layer.size(); ++i)
        role_.try_emplace(layer[i], layers_->parameters.front()[i]);
    }
    std::vector<size_t> lengths(kSearchedLayers.begin(), kSearchedLayers.end());
    if (layers_->count > kMoreLayers) lengths.push_back(kMoreLayers);
    for (const size_t kept : lengths) {
      Function shorter =
          passes ? with_layers(*fusion, *size, kept) : with_layers(*fusion, *layers_, kept);
      if (!base.empty()) {
        HOSTIR_ASSIGN_OR_RETURN(
            shorter, differentiate(*request_.arguments.program, shorter, name_, request_.wrt));
      }
      Program& program = short_.emplace_back();
      for (const Mesh& mesh : request_.arguments.program->meshes) program.add_mesh(mesh);
      for (const Machine& machine : request_.arguments.program->machines)
        program.add_machine(machine);
      ops::add_applied(*request_.arguments.program, shorter, program);
      program.add_function(std::move(shorter));
    }
    return {};
  }

  // True if the request names a parameter of a layer (a fixed sharding, a gradient): then the
  // layers are not interchangeable.
  bool names_layers() const {
    const auto is_named = [&](const std::string& name) {
      return is_fixed(name) || contains(request_.wrt, name);
    };
    return std::any_of(
        layers_->parameters.begin(), layers_->parameters.end(),
        [&](const auto& layer) { return std::any_of(layer.begin(), layer.end(), is_named); });
  }

  // The parameter whose cuts this one shares.
  const std::string& role(const std::string& name) const {
    const auto found = role_.find(name);
    return found == role_.end() ? name : found->second;
  }

  const Function& function() const { return *request_.arguments.program->find_function(name_); }
  // The program with the fewest layers, which the search lowers first.
  const Program& smallest() const {
    return short_.empty() ? *request_.arguments.program : short_.front();
  }

  Expected<void> check() const {
    if (function().kind != FunctionKind::kFusion) {
      return fail(
          ErrorKind::kUsage, "usage",
          fmt::format("@{} is a host function: its shardings are written, not chosen", name_));
    }
    const std::vector<std::string> used = value_meshes(function()).used;
    if (used.size() > 1) {
      return fail_at(
          ErrorKind::kUsage, "plan_meshes",
          fmt::format("@{} uses {} meshes, @{} and @{} among them: plan chooses one mesh "
                      "for a whole fusion; plan the part on each mesh as a fusion of its "
                      "own",
                      name_, used.size(), used[0], used[1]),
          function().name_span);
    }
    for (const std::string& name : request_.fixed) {
      if (is_parameter(name) || is_result(name)) continue;
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("--fix names no parameter and no result of @{}: %{}", name_, name));
    }
    return {};
  }

  bool is_parameter(const std::string& name) const {
    return std::any_of(function().params.begin(), function().params.end(),
                       [&](const Parameter& p) { return function().value(p.value).name == name; });
  }
  bool is_result(const std::string& name) const {
    return std::any_of(function().results.begin(), function().results.end(),
                       [&](const ResultDecl& r) { return r.name == name; });
  }
  bool is_fixed(const std::string& name) const { return contains(request_.fixed, name); }

  // The root mesh that the fusion uses, or the first of the file, or a new one.
  void choose_mesh() {
    const Program& program = *request_.arguments.program;
    for (const Value& value : function().values) {
      const Sharding* sharding = sharding_of(value.type);
      if (sharding != nullptr && mesh_.name.empty())
        if (const Mesh* mesh = program.find_mesh(sharding->mesh)) mesh_ = *mesh;
    }
    if (mesh_.name.empty() && !program.meshes.empty()) mesh_ = program.meshes.front();
    if (mesh_.name.empty()) mesh_.name = "mesh";
    written_axes_ = mesh_.axes.size();
    for (const char* name : {"x", "y"}) {
      if (mesh_.axes.size() < kLeastAxes && !mesh_.axis_index(name))
        mesh_.axes.push_back({name, 1});
    }
    mesh_.device_ids.clear();
  }

  std::vector<MeshAxes> meshes() const {
    const auto written = std::span(mesh_.axes).first(written_axes_);
    return request_.meshes.empty() ? all_meshes(mesh_.axes, written, request_.ranks)
                                   : with_axes(request_.meshes, written);
  }

  // The file's own shardings use only its own axes.
  bool is_written_for(const MeshAxes& axes) const {
    bool written = false;
    for (const Parameter& p : function().params)
      written = written || sharding_of(function().value(p.value).type) != nullptr;
    const auto own = std::span(mesh_.axes).first(written_axes_);
    return written && std::all_of(axes.begin(), axes.end(), [&](const MeshAxis& axis) {
             return axis.size == 1 || has_axis(own, axis.name);
           });
  }

  void descend(const MeshAxes& axes) {
    std::vector<const Plan*> seen;
    std::set<const Plan*> extended;
    size_t detours = 0;
    std::vector<PlanCut> ranking;  // the cuts of the last round, best first
    bool ranked_for_fits = false;  // by time, not by memory
    if (const Plan* whole = evaluate({{.axes = axes}}).front()) seen.push_back(whole);
    while (const Plan* best = next_to_extend(seen, extended, memory(), detours)) {
      extended.insert(best);
      std::vector<PlanCut> cuts = possible_cuts(axes, *best);
      if (best->fits == ranked_for_fits && !ranking.empty()) keep_promising(cuts, ranking);
      std::vector<Candidate> candidates;
      for (const PlanCut& cut : cuts) {
        candidates.push_back(of(*best));
        candidates.back().cuts.push_back(cut);
      }
      const std::vector<const Plan*> plans = evaluate(candidates);
      std::vector<TriedCut> tried;
      for (size_t i = 0; i < plans.size(); ++i) {
        if (plans[i] == nullptr) continue;
        seen.push_back(plans[i]);
        tried.push_back({plans[i], cuts[i]});
      }
      rank_cuts(tried);
      ranking.clear();
      for (const TriedCut& each : tried) ranking.push_back(each.cut);
      ranked_for_fits = best->fits;
      if (try_together(*best, joint_cuts(*best, std::move(tried)), seen)) ranking.clear();
    }
  }

  // Tries all cuts, then the better half, and so on, until one is best; false if none is.
  bool try_together(const Plan& from, const std::vector<PlanCut>& cuts,
                    std::vector<const Plan*>& seen) {
    for (size_t count = cuts.size(); count > 1; count /= 2) {
      Candidate candidate = of(from);
      candidate.cuts.insert(candidate.cuts.end(), cuts.begin(),
                            cuts.begin() + static_cast<std::ptrdiff_t>(count));
      const Plan* plan = evaluate({std::move(candidate)}).front();
      if (plan == nullptr) continue;
      seen.push_back(plan);
      if (seen[preferred_plan(seen)] == plan) return true;
    }
    return false;
  }

  // An axis can cut a parameter only once. A cut that propagation already makes changes nothing.
  std::vector<PlanCut> possible_cuts(const MeshAxes& axes, const Plan& plan) const {
    const std::vector<PlanCut>& cuts = plan.cuts;
    const std::map<std::string, Sharding> held(plan.shardings.begin(), plan.shardings.end());
    const auto is_cut = [&](const std::string& value, size_t d, const std::string& axis) {
      const auto at = held.find(value);
      if (at == held.end() || d >= at->second.dims.size()) return false;
      const AxisList& list = at->second.dims[d].axes;
      return contains(list, AxisRef{axis});
    };
    std::vector<PlanCut> out;
    const Function& f = *smallest().find_function(name_);
    for (const Parameter& parameter : f.params) {
      const Value& value = f.value(parameter.value);
      const auto* tensor = std::get_if<TensorType>(&value.type);
      // Parameters of other layers are cut with those of the first one.
      if (tensor == nullptr || is_fixed(value.name) || role(value.name) != value.name) continue;
      for (const MeshAxis& axis : axes) {
        const bool used = std::any_of(cuts.begin(), cuts.end(), [&](const PlanCut& c) {
          return c.value == value.name && c.axis == axis.name;
        });
        if (used || axis.size == 1) continue;
        for (size_t d = 0; d < tensor->shape.size(); ++d) {
          if (is_cut(value.name, d, axis.name)) continue;
          if (can_cut(*tensor, d, axis.size)) out.push_back({value.name, d, axis.name});
        }
      }
    }
    return out;
  }

  // The program on this mesh, with these cuts instead of its shardings.
  Program with(Program program, const Candidate& candidate) const {
    return with_candidate(
        std::move(program), name_, mesh_, candidate,
        {.is_fixed = [this](const std::string& v) { return is_fixed(v); },
         .role = [this](const std::string& v) -> const std::string& { return role(v); }});
  }

  // By candidate; null if it cannot be lowered or run. Every candidate is tried once.
  std::vector<const Plan*> evaluate(const std::vector<Candidate>& candidates) {
    std::vector<std::string> keys;
    std::vector<size_t> fresh;
    const size_t before = tried_.size();
    for (const Candidate& candidate : candidates) {
      if (tried_.insert(keys.emplace_back(key_of(candidate))).second)
        fresh.push_back(keys.size() - 1);
    }
    std::vector<Expected<Plan>> made(fresh.size());
    workers_->for_each(
        fresh.size(),
        [&](Predictor& predictor, size_t i) {
          made[i] = estimate(predictor, candidates[fresh[i]]);
        },
        [&](size_t ended) {
          progress_.candidates = before + ended;
          report();
        });
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (!made[i]) {
        error_ = std::move(made[i].error());
        continue;
      }
      const Plan& plan = plans_.emplace(keys[fresh[i]], std::move(*made[i])).first->second;
      if (progress_.best == nullptr || is_ranked_before(plan, *progress_.best))
        progress_.best = &plan;
    }
    std::vector<const Plan*> out;
    for (const std::string& key : keys) {
      const auto found = plans_.find(key);
      out.push_back(found == plans_.end() ? nullptr : &found->second);
    }
    return out;
  }

  Expected<Plan> estimate(Predictor& predictor, const Candidate& candidate) const {
    if (short_.empty()) return exact(predictor, candidate);
    HOSTIR_ASSIGN_OR_RETURN(Prediction few, predict(predictor, short_[0], candidate, nullptr));
    const NamedHomes homes = in_all_layers(few.homes, role_);
    HOSTIR_ASSIGN_OR_RETURN(const Prediction many,
                            predict(predictor, short_[1], candidate, &homes));
    Plan out = finished(
        candidate, extrapolated(std::move(few), many,
                                {kSearchedLayers.front(), kSearchedLayers.back(), layers_->count}));
    out.exact = false;
    return out;
  }

  Expected<Plan> exact(Predictor& predictor, const Candidate& candidate) const {
    const Program program = with(*request_.arguments.program, candidate);
    HOSTIR_ASSIGN_OR_RETURN(Prediction all,
                            predictor.predict(program, name_, Predictor::Explain::kYes));
    return finished(candidate, std::move(all));
  }

  Expected<Prediction> predict(Predictor& predictor, const Program& program,
                               const Candidate& candidate, const NamedHomes* homes) const {
    return predictor.predict(with(program, candidate), name_, Predictor::Explain::kNo, homes);
  }

  Plan finished(const Candidate& candidate, Prediction prediction) const {
    Plan plan;
    static_cast<Prediction&>(plan) = std::move(prediction);
    plan.axes = candidate.axes;
    plan.cuts = candidate.cuts;
    plan.as_written = candidate.as_written;
    plan.placement = placement_text(plan.axes, plan.shardings);
    plan.fits = fits_in(memory(), plan.peak_bytes);
    return plan;
  }

  void report() const {
    if (request_.progress) request_.progress(progress_);
  }

  double memory() const { return request_.backend.machine.memory_bytes; }

  const PlanRequest& request_;
  std::string name_;
  std::optional<PlanWorkers> workers_;
  std::optional<RepeatedLayers> layers_;
  std::vector<Program> short_;               // with kSearchedLayers layers each
  std::map<std::string, std::string> role_;  // parameters of layers -> those of the first layer
  Mesh mesh_;
  size_t written_axes_ = 0;
  std::set<std::string> tried_;
  std::map<std::string, Plan> plans_;
  PlanProgress progress_;
  std::vector<OverestimatedPlan> overestimates_;
  std::optional<Error> error_;  // of the last candidate that failed
};

}  // namespace

Expected<Plans> find_plans(const PlanRequest& request) { return Planner(request).find(); }

}  // namespace hostir::api
