#include "hostir/api/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "hostir/api/backends.h"
#include "hostir/ops/value_meshes.h"

namespace hostir::api {

namespace {

constexpr size_t kLeastAxes = 2;

/// All ordered products of `count` factors that give `ranks`.
std::vector<std::vector<int64_t>> factorisations(int64_t ranks, size_t count) {
  if (count == 1) return {{ranks}};
  std::vector<std::vector<int64_t>> out;
  for (int64_t first = 1; first <= ranks; ++first) {
    if (ranks % first != 0) continue;
    for (std::vector<int64_t>& rest : factorisations(ranks / first, count - 1)) {
      rest.insert(rest.begin(), first);
      out.push_back(std::move(rest));
    }
  }
  return out;
}

// Lists of axes: one per dimension of each value, then one of its partial sums.
using AxisLists = std::vector<std::vector<std::string>>;

// True if `second` follows `first` in every list that has either: together they are one axis.
bool always_joined(const AxisLists& lists, const std::string& first, const std::string& second) {
  return std::all_of(lists.begin(), lists.end(), [&](const std::vector<std::string>& list) {
    const auto a = std::find(list.begin(), list.end(), first);
    const auto b = std::find(list.begin(), list.end(), second);
    return a == list.end() ? b == list.end() : a + 1 == b;
  });
}

// The shardings with numbers for axes, in order of appearance: equal for plans that differ only in
// the names of axes, in axes that nothing uses, or in one axis split in two that always cut
// together.
std::string placement_text(const std::vector<MeshAxis>& axes,
                           const std::vector<std::pair<std::string, Sharding>>& shardings) {
  AxisLists lists;
  std::map<std::string, int64_t> sizes;
  const auto add = [&](const AxisList& list) {
    std::vector<std::string>& names = lists.emplace_back();
    for (const AxisRef& a : list) {
      const auto axis = std::find_if(axes.begin(), axes.end(),
                                     [&](const MeshAxis& m) { return m.name == a.name; });
      const int64_t size = a.whole() && axis != axes.end() ? axis->size : a.size;
      if (size == 1) continue;
      names.push_back(a.to_string());
      sizes[names.back()] = size;
    }
  };
  std::string out;
  for (const auto& [name, sharding] : shardings) {
    out += fmt::format("%{}:{} ", name, sharding.dims.size());
    for (const DimSharding& dim : sharding.dims) add(dim.axes);
    add(sharding.unreduced);
  }
  for (auto first = sizes.begin(); first != sizes.end();) {
    const auto second = std::find_if(sizes.begin(), sizes.end(), [&](const auto& other) {
      return other.first != first->first && always_joined(lists, first->first, other.first);
    });
    if (second == sizes.end()) {
      ++first;
      continue;
    }
    first->second *= second->second;
    for (std::vector<std::string>& list : lists) std::erase(list, second->first);
    sizes.erase(second);
    first = sizes.begin();
  }
  std::map<std::string, size_t> numbers;
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& name : list)
      out += fmt::format("{}={},", numbers.try_emplace(name, numbers.size()).first->second,
                         sizes.at(name));
    out += ";";
  }
  return out;
}

bool is_better(const Plan& a, const Plan& b) {
  if (a.fits != b.fits) return a.fits;
  if (!a.fits) return a.peak_bytes < b.peak_bytes;
  const auto close = static_cast<int64_t>(1e-3 * static_cast<double>(b.time_ns));
  if (a.time_ns < b.time_ns - close) return true;
  return a.time_ns <= b.time_ns + close && a.peak_bytes < b.peak_bytes;
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request)
      : request_(request), name_(request.arguments.options.function) {}

  Expected<Plans> find() {
    HOSTIR_TRY(check());
    choose_mesh();
    for (const std::vector<MeshAxis>& axes : meshes()) {
      if (is_written_for(axes)) evaluate(axes, {}, /*as_written=*/true);
      descend(axes);
    }
    if (plans_.empty() && error_) return tl::unexpected(std::move(*error_));
    Plans out;
    for (auto& [key, plan] : plans_) out.found.push_back(plan);
    std::stable_sort(out.found.begin(), out.found.end(), is_ranked_before);
    drop_equal(out.found);
    prefer_less_memory(out.found);
    const Plan best = out.found.front();
    for (size_t i = 0; i < best.cuts.size() && !best.as_written; ++i) {
      std::vector<PlanCut> others = best.cuts;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (const Plan* plan = evaluate(best.axes, others, false))
        out.without.push_back({best.cuts[i], *plan});
    }
    out.candidates = tried_.size();
    return out;
  }

 private:
  // A strict weak order, unlike is_better(), which calls close times equal.
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

  // Of the plans that are as fast as the first, the one that needs least memory becomes the first.
  static void prefer_less_memory(std::vector<Plan>& plans) {
    auto least = plans.begin();
    for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
      if (is_better(*plan, *least)) least = plan;
    }
    std::rotate(plans.begin(), least, least + 1);
  }

  const Function& function() const { return *request_.arguments.program->find_function(name_); }

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

  std::vector<std::vector<MeshAxis>> meshes() const {
    std::vector<std::vector<MeshAxis>> out;
    for (const std::vector<int64_t>& sizes : factorisations(request_.ranks, mesh_.axes.size())) {
      std::vector<MeshAxis> axes = mesh_.axes;
      for (size_t i = 0; i < axes.size(); ++i) axes[i].size = sizes[i];
      // An added axis that takes all ranks is the file's axis under another name.
      const bool renamed = written_axes_ == 1 && axes.front().size == 1 && request_.ranks > 1;
      if (!renamed) out.push_back(std::move(axes));
    }
    return out;
  }

  // The file's own shardings use only its own axes.
  bool is_written_for(const std::vector<MeshAxis>& axes) const {
    bool written = false;
    for (const Parameter& p : function().params)
      written = written || sharding_of(function().value(p.value).type) != nullptr;
    for (size_t i = written_axes_; i < axes.size(); ++i) written = written && axes[i].size == 1;
    return written;
  }

  void descend(const std::vector<MeshAxis>& axes) {
    std::vector<PlanCut> cuts;
    const Plan* best = evaluate(axes, cuts, false);
    for (bool improved = true; improved;) {
      improved = false;
      std::vector<PlanCut> best_cuts;
      for (const PlanCut& cut : possible_cuts(axes, cuts)) {
        std::vector<PlanCut> more = cuts;
        more.push_back(cut);
        const Plan* plan = evaluate(axes, more, false);
        if (plan == nullptr || (best != nullptr && !is_better(*plan, *best))) continue;
        best = plan;
        best_cuts = std::move(more);
        improved = true;
      }
      if (improved) cuts = std::move(best_cuts);
    }
  }

  // An axis cuts a parameter once.
  std::vector<PlanCut> possible_cuts(const std::vector<MeshAxis>& axes,
                                     const std::vector<PlanCut>& cuts) const {
    std::vector<PlanCut> out;
    for (const Parameter& parameter : function().params) {
      const Value& value = function().value(parameter.value);
      const auto* tensor = std::get_if<TensorType>(&value.type);
      if (tensor == nullptr || is_fixed(value.name)) continue;
      for (const MeshAxis& axis : axes) {
        const bool used = std::any_of(cuts.begin(), cuts.end(), [&](const PlanCut& c) {
          return c.value == value.name && c.axis == axis.name;
        });
        if (used || axis.size == 1) continue;
        for (size_t d = 0; d < tensor->shape.size(); ++d) out.push_back({value.name, d, axis.name});
      }
    }
    return out;
  }

  // The file's program on this mesh, with these cuts instead of its shardings.
  Program candidate(const std::vector<MeshAxis>& axes, const std::vector<PlanCut>& cuts,
                    bool as_written) const {
    Program program = *request_.arguments.program;
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
      if (cut.value == value.name) tensor->sharding->dims[cut.dim].axes.push_back({cut.axis});
    }
  }

  // Null if it cannot be lowered or run. Every candidate is tried once.
  const Plan* evaluate(const std::vector<MeshAxis>& axes, std::vector<PlanCut> cuts,
                       bool as_written) {
    std::vector<PlanCut> sorted = cuts;
    std::sort(sorted.begin(), sorted.end());
    std::string key = axes_text(axes) + (as_written ? " as written" : "");
    for (const PlanCut& cut : sorted) key += " " + cut_text(cut);
    if (tried_.insert(key).second) {
      if (request_.progress) request_.progress(tried_.size());
      auto plan = predict(axes, cuts, as_written);
      if (plan)
        plans_.emplace(key, std::move(*plan));
      else
        error_ = std::move(plan.error());
    }
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : &found->second;
  }

  Expected<Plan> predict(const std::vector<MeshAxis>& axes, const std::vector<PlanCut>& cuts,
                         bool as_written) const {
    const Program program = candidate(axes, cuts, as_written);
    HOSTIR_ASSIGN_OR_RETURN(const auto prepared, prepare_shapes(program, request_.arguments.inputs,
                                                                request_.arguments.options));
    interp::RunOptions options;
    options.backend = request_.backend;
    options.backend.max_memory_bytes = INT64_MAX;  // what does not fit is told, not refused
    HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result,
                            interp::run(*prepared, make_backend_factory(), options));
    if (const interp::Fault* fault = result.worst()) return tl::unexpected(to_error(*fault));
    Plan plan;
    plan.axes = axes;
    plan.cuts = cuts;
    plan.as_written = as_written;
    plan.time_ns = result.finished_ns;
    for (const int64_t bytes : result.peak_bytes)
      plan.peak_bytes = std::max(plan.peak_bytes, bytes);
    const double memory = request_.backend.machine.memory_bytes;
    plan.fits = memory <= 0 || static_cast<double>(plan.peak_bytes) <= memory;
    plan.collectives = result.collectives;
    plan.explanation = prepared->explanation;
    add_shardings(*prepared, result, plan);
    return plan;
  }

  static void add_shardings(const interp::Prepared& prepared, const interp::RunResult& result,
                            Plan& plan) {
    const interp::Code& code = *prepared.code;
    for (const uint32_t reg : code.parameters) {
      const interp::LayoutIndex layout = code.registers[reg].layout;
      const Sharding* sharding =
          layout == interp::kNoLayout ? nullptr : sharding_of(code.layouts[layout].type);
      if (sharding != nullptr)
        plan.shardings.emplace_back(code.register_name(reg).substr(1), *sharding);
    }
    for (const interp::NamedOutput& output : result.outputs) {
      if (const Sharding* sharding = sharding_of(output.type))
        plan.shardings.emplace_back(output.name, *sharding);
    }
  }

  const PlanRequest& request_;
  std::string name_;
  Mesh mesh_;
  size_t written_axes_ = 0;
  std::set<std::string> tried_;
  std::map<std::string, Plan> plans_;
  std::optional<Error> error_;  // of the last candidate that failed
};

}  // namespace

Expected<Plans> find_plans(const PlanRequest& request) { return Planner(request).find(); }

std::string axes_text(const std::vector<MeshAxis>& axes) {
  std::string out;
  for (const MeshAxis& axis : axes)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", axis.name, axis.size);
  return out;
}

std::string cut_text(const PlanCut& cut) {
  return fmt::format("%{}[{}] by {}", cut.value, cut.dim, cut.axis);
}

}  // namespace hostir::api
