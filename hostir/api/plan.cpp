#include "hostir/api/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "hostir/api/backends.h"
#include "hostir/api/plan_placement.h"
#include "hostir/ops/apply.h"
#include "hostir/ops/differentiate.h"
#include "hostir/ops/value_meshes.h"
#include "hostir/passes/repeated_layers.h"
#include "interp/session/prepare/input_values.h"

namespace hostir::api {

namespace {

constexpr size_t kLeastAxes = 2;
constexpr std::array<size_t, 2> kSearchedLayers = {2, 4};
constexpr size_t kMoreLayers = 8;   // for plans that may be the best
constexpr size_t kTriedAgain = 16;  // with more cuts than this, each round drops the worse half
constexpr double kEqualTimes = 1e-3;

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
    predictor_.emplace(request_.backend, sizes, Predictor::Ranks::kOneForAll,
                       request_.arguments.options.overlap);
    HOSTIR_TRY(shorten());
    choose_mesh();
    for (const MeshAxes& axes : meshes()) {
      if (is_written_for(axes)) evaluate(axes, {}, /*as_written=*/true);
      descend(axes);
    }
    if (plans_.empty() && error_) return tl::unexpected(std::move(*error_));
    Plans out;
    out.layers = layers_ ? layers_->count : 1;
    for (auto& [key, plan] : plans_) out.found.push_back(plan);
    HOSTIR_TRY(put_best_first(out.found));
    const Plan best = out.found.front();
    for (size_t i = 0; i < best.cuts.size() && !best.as_written; ++i) {
      std::vector<PlanCut> others = best.cuts;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const Plan* plan = evaluate(best.axes, others, false);
      if (plan == nullptr) continue;
      out.without.push_back({best.cuts[i], *plan});
      if (!can_refine(*plan)) continue;
      HOSTIR_ASSIGN_OR_RETURN(out.without.back().plan, refined(*plan));
    }
    out.candidates = tried_.size();
    return out;
  }

 private:
  // A strict weak order, unlike preferred_plan(), which calls close times equal.
  static bool is_ranked_before(const Plan& a, const Plan& b) {
    if (a.fits != b.fits) return a.fits;
    if (!a.fits) return a.peak_bytes < b.peak_bytes;
    return std::tie(a.time_ns, a.peak_bytes) < std::tie(b.time_ns, b.peak_bytes);
  }

  // Different cuts may propagate to the same shardings, and meshes may differ only in the names of
  // their axes.
  static void drop_equal(std::vector<Plan>& plans) {
    std::set<std::tuple<bool, int64_t, int64_t, std::string>> known;
    std::erase_if(plans, [&](const Plan& plan) {
      return !known
                  .insert({plan.as_written, plan.time_ns, plan.peak_bytes,
                           placement_text(plan.axes, plan.shardings)})
                  .second;
    });
  }

  // Repeats until the best plan has been predicted with all layers.
  Expected<void> put_best_first(std::vector<Plan>& plans) {
    while (true) {
      std::stable_sort(plans.begin(), plans.end(), is_ranked_before);
      drop_equal(plans);
      std::vector<const Plan*> all;
      for (const Plan& plan : plans) all.push_back(&plan);
      const auto best = plans.begin() + static_cast<std::ptrdiff_t>(preferred_plan(all));
      std::rotate(plans.begin(), best, best + 1);
      Plan& first = plans.front();
      if (first.exact) return {};
      if (can_refine(first)) {
        HOSTIR_ASSIGN_OR_RETURN(first, refined(first));
        continue;
      }
      HOSTIR_ASSIGN_OR_RETURN(
          first, predict(*request_.arguments.program, first.axes, first.cuts, first.as_written));
    }
  }

  bool can_refine(const Plan& plan) const {
    return !plan.exact && !plan.refined && short_.size() > kSearchedLayers.size();
  }

  // Peak memory is the highest of several moments. The moment that grows fastest with the number of
  // layers may not be the highest with four layers yet; with eight it mostly is. Predicting eight
  // layers takes a fraction of the time of predicting all.
  Expected<Plan> refined(const Plan& plan) {
    HOSTIR_ASSIGN_OR_RETURN(const Plan few,
                            predict(short_[1], plan.axes, plan.cuts, plan.as_written));
    HOSTIR_ASSIGN_OR_RETURN(const Plan many,
                            predict(short_.back(), plan.axes, plan.cuts, plan.as_written));
    Plan out = extrapolated(few, many, kSearchedLayers.back(), kMoreLayers);
    out.shardings = plan.shardings;
    out.refined = true;
    return out;
  }

  // The layers that a search over the whole fusion would cut one by one.
  Expected<void> shorten() {
    const std::string& base = request_.gradient_of;
    const Function* fusion =
        base.empty() ? &function() : request_.arguments.program->find_function(base);
    if (fusion == nullptr) return {};
    layers_ = repeated_layers(*fusion);
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
      Function shorter = with_layers(*fusion, *layers_, kept);
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
  // layers are not alike.
  bool names_layers() const {
    const auto is_named = [&](const std::string& name) {
      return is_fixed(name) ||
             std::find(request_.wrt.begin(), request_.wrt.end(), name) != request_.wrt.end();
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
  bool is_fixed(const std::string& name) const {
    return std::find(request_.fixed.begin(), request_.fixed.end(), name) != request_.fixed.end();
  }

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
    const MeshAxes written(mesh_.axes.begin(),
                           mesh_.axes.begin() + static_cast<std::ptrdiff_t>(written_axes_));
    std::vector<MeshAxes> out = request_.meshes;
    for (MeshAxes& axes : out) {
      for (const MeshAxis& axis : written) {
        if (!has_axis(axes, axis.name)) axes.push_back({axis.name, 1});
      }
    }
    if (!out.empty()) return out;
    out = all_sizes(mesh_.axes, request_.ranks);
    // An added axis that takes all ranks is the file's axis under another name.
    std::erase_if(out, [&](const MeshAxes& axes) {
      return written_axes_ == 1 && axes.front().size == 1 && request_.ranks > 1;
    });
    return out;
  }

  static bool has_axis(std::span<const MeshAxis> axes, const std::string& name) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const MeshAxis& axis) { return axis.name == name; });
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
    std::vector<PlanCut> ranking;  // the cuts of the last round, best first
    bool ranked_for_fits = false;  // by time, not by memory
    if (const Plan* whole = evaluate(axes, {}, false)) seen.push_back(whole);
    while (!seen.empty()) {
      const Plan* best = seen[preferred_plan(seen)];
      if (!extended.insert(best).second) return;
      std::vector<PlanCut> cuts = possible_cuts(axes, *best);
      if (best->fits == ranked_for_fits && !ranking.empty()) keep_promising(cuts, ranking);
      std::vector<std::pair<const Plan*, PlanCut>> tried;
      for (const PlanCut& cut : cuts) {
        std::vector<PlanCut> more = best->cuts;
        more.push_back(cut);
        const Plan* plan = evaluate(axes, more, false);
        if (plan == nullptr) continue;
        seen.push_back(plan);
        tried.emplace_back(plan, cut);
      }
      std::stable_sort(tried.begin(), tried.end(), [](const auto& a, const auto& b) {
        return is_ranked_before(*a.first, *b.first);
      });
      ranking.clear();
      for (const auto& [plan, cut] : tried) ranking.push_back(cut);
      ranked_for_fits = best->fits;
    }
  }

  // Drops the cuts that ranked in the lower half of the last round, but keeps at least kTriedAgain.
  // The rest stay in their order.
  static void keep_promising(std::vector<PlanCut>& cuts, const std::vector<PlanCut>& ranking) {
    const size_t kept = std::max(kTriedAgain, ranking.size() / 2);
    if (kept >= ranking.size()) return;
    const std::set<PlanCut> promising(ranking.begin(),
                                      ranking.begin() + static_cast<std::ptrdiff_t>(kept));
    std::erase_if(cuts, [&](const PlanCut& cut) { return promising.count(cut) == 0; });
  }

  // An axis can cut a parameter only once. A cut that propagation already makes changes nothing.
  std::vector<PlanCut> possible_cuts(const MeshAxes& axes, const Plan& plan) const {
    const std::vector<PlanCut>& cuts = plan.cuts;
    const std::map<std::string, Sharding> held(plan.shardings.begin(), plan.shardings.end());
    const auto is_cut = [&](const std::string& value, size_t d, const std::string& axis) {
      const auto at = held.find(value);
      if (at == held.end() || d >= at->second.dims.size()) return false;
      const AxisList& list = at->second.dims[d].axes;
      return std::find(list.begin(), list.end(), AxisRef{axis}) != list.end();
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
  Program candidate(Program program, const MeshAxes& axes, const std::vector<PlanCut>& cuts,
                    bool as_written) const {
    Mesh* mesh = nullptr;
    for (Mesh& m : program.meshes) {
      if (m.name == mesh_.name) mesh = &m;
    }
    if (mesh == nullptr) mesh = &program.add_mesh(mesh_);
    mesh->axes = axes;
    mesh->device_ids.clear();
    if (as_written) return program;
    Function& f = *program.find_function(name_);
    for (const Parameter& parameter : f.params) shard(f.value(parameter.value), cuts);
    for (ResultDecl& result : f.results) {
      auto* tensor = std::get_if<TensorType>(&result.type);
      if (tensor != nullptr && !is_fixed(result.name)) tensor->sharding = open(*tensor);
    }
    return program;
  }

  // Propagation may cut every dimension.
  Sharding open(const TensorType& tensor) const {
    Sharding sharding = Sharding::replicated(mesh_.name, tensor.shape.size());
    for (DimSharding& dim : sharding.dims) dim.open = true;
    return sharding;
  }

  void shard(Value& value, const std::vector<PlanCut>& cuts) const {
    auto* tensor = std::get_if<TensorType>(&value.type);
    if (tensor == nullptr || is_fixed(value.name)) return;
    tensor->sharding = open(*tensor);
    for (const PlanCut& cut : cuts) {
      if (cut.value == role(value.name)) tensor->sharding->dims[cut.dim].axes.push_back({cut.axis});
    }
  }

  // Null if it cannot be lowered or run. Every candidate is tried once.
  const Plan* evaluate(const MeshAxes& axes, std::vector<PlanCut> cuts, bool as_written) {
    std::vector<PlanCut> sorted = cuts;
    std::sort(sorted.begin(), sorted.end());
    std::string key = axes_text(axes) + (as_written ? " as written" : "");
    for (const PlanCut& cut : sorted) key += " " + cut_text(cut);
    if (tried_.insert(key).second) {
      if (request_.progress) request_.progress(tried_.size());
      auto plan = estimate(axes, cuts, as_written);
      if (plan)
        plans_.emplace(key, std::move(*plan));
      else
        error_ = std::move(plan.error());
    }
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : &found->second;
  }

  Expected<Plan> estimate(const MeshAxes& axes, const std::vector<PlanCut>& cuts, bool as_written) {
    if (short_.empty()) return predict(*request_.arguments.program, axes, cuts, as_written);
    HOSTIR_ASSIGN_OR_RETURN(const Plan few, predict(short_[0], axes, cuts, as_written));
    HOSTIR_ASSIGN_OR_RETURN(const Plan many, predict(short_[1], axes, cuts, as_written));
    return extrapolated(few, many, kSearchedLayers.front(), kSearchedLayers.back());
  }

  // The plan with all layers, from its predictions with two smaller numbers of them.
  Plan extrapolated(Plan plan, const Plan& more, size_t few_layers, size_t many_layers) const {
    const auto added = static_cast<int64_t>(many_layers - few_layers);
    const auto missing = static_cast<int64_t>(layers_->count - few_layers);
    // If more layers take less time, the fewer ones were lowered differently: scale the larger
    // count.
    const auto with_all = [&](int64_t few, int64_t many) {
      if (many < few) {
        return many * static_cast<int64_t>(layers_->count) / static_cast<int64_t>(many_layers);
      }
      return few + (many - few) * missing / added;
    };
    plan.time_ns = with_all(plan.time_ns, more.time_ns);
    plan.peak_bytes = with_all(plan.peak_bytes, more.peak_bytes);
    std::vector<interp::CollectiveCount> few = std::move(plan.collectives);
    plan.collectives = more.collectives;
    for (interp::CollectiveCount& c : plan.collectives) {
      const auto same = std::find_if(few.begin(), few.end(), [&](const auto& f) {
        return f.kind == c.kind && f.reduction == c.reduction && f.over == c.over &&
               f.bytes == c.bytes && f.tensors == c.tensors;
      });
      c.count = with_all(same == few.end() ? 0 : same->count, c.count);
    }
    plan.fits = fits(plan);
    plan.exact = false;
    plan.explanation.clear();  // predicted again before it is read
    return plan;
  }

  bool fits(const Plan& plan) const {
    const double memory = request_.backend.machine.memory_bytes;
    return memory <= 0 || static_cast<double>(plan.peak_bytes) <= memory;
  }

  Expected<Plan> predict(const Program& program, const MeshAxes& axes,
                         const std::vector<PlanCut>& cuts, bool as_written) {
    Plan plan;
    HOSTIR_ASSIGN_OR_RETURN(static_cast<Prediction&>(plan),
                            predictor_->predict(candidate(program, axes, cuts, as_written), name_));
    plan.axes = axes;
    plan.cuts = cuts;
    plan.as_written = as_written;
    plan.fits = fits(plan);
    return plan;
  }

  const PlanRequest& request_;
  std::string name_;
  std::optional<Predictor> predictor_;
  std::optional<RepeatedLayers> layers_;
  std::vector<Program> short_;               // with kSearchedLayers layers each
  std::map<std::string, std::string> role_;  // parameters of layers -> those of the first layer
  Mesh mesh_;
  size_t written_axes_ = 0;
  std::set<std::string> tried_;
  std::map<std::string, Plan> plans_;
  std::optional<Error> error_;  // of the last candidate that failed
};

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
  const double slowest = static_cast<double>(fastest->time_ns) * (1 + kEqualTimes);
  size_t best = plans.size();
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i]->fits || static_cast<double>(plans[i]->time_ns) > slowest) continue;
    if (best == plans.size() || plans[i]->peak_bytes < plans[best]->peak_bytes) best = i;
  }
  return best;
}

Expected<Plans> find_plans(const PlanRequest& request) { return Planner(request).find(); }

std::string cut_text(const PlanCut& cut) {
  return fmt::format("%{}[{}] by {}", cut.value, cut.dim, cut.axis);
}

}  // namespace hostir::api
