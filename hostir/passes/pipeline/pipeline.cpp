#include "hostir/passes/pipeline/pipeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/ops/builder.h"
#include "hostir/ops/value_meshes.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/pipeline/emit_rank.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir::pipeline {

namespace {

constexpr std::string_view kAxis = "pp";

class PipelineMaker {
 public:
  PipelineMaker(const Program& program, const PipelineRequest& request) : request_(request) {
    out_.program = program;
  }

  Expected<Pipeline> run() {
    HOSTIR_ASSIGN_OR_RETURN(const auto roles, find_roles(out_.program, request_));
    HOSTIR_ASSIGN_OR_RETURN(ties_, find_ties(out_.program, request_, roles));
    HOSTIR_TRY(check_results());
    HOSTIR_TRY(plan_schedule());
    HOSTIR_TRY(add_meshes());
    HOSTIR_TRY(make_stages(roles));
    HOSTIR_TRY(check_ties());
    HOSTIR_TRY(build_host());
    out_.program.add_function(compacted(host_));
    out_.function = host_.name;
    return std::move(out_);
  }

 private:
  Program& program() { return out_.program; }
  const Function& fusion(size_t stage) { return *program().find_function(request_.stages[stage]); }

  Expected<void> check_results() {
    for (size_t s = 0; s < request_.stages.size(); ++s) {
      const Function& f = fusion(s);
      const bool loss = f.results.size() == 1 && shape_of(f.results[0].type).empty() &&
                        is_float(dtype_of(f.results[0].type));
      if (loss == (s + 1 == request_.stages.size())) continue;
      return fail_at(ErrorKind::kInvalid, "pipeline_c5",
                     loss ? fmt::format("@{} returns a loss, a scalar, but stage {} comes after "
                                        "it: only the last stage may",
                                        f.name, s + 1)
                          : fmt::format("@{} is the last stage and must return the loss, one "
                                        "floating-point scalar",
                                        f.name),
                     f.name_span);
    }
    return {};
  }

  Expected<void> plan_schedule() {
    const auto stages = static_cast<int64_t>(request_.stages.size());
    const int64_t ranks = request_.ranks == 0 ? stages : request_.ranks;
    if (ranks < 1 || stages % ranks != 0) {
      return fail(ErrorKind::kUsage, "pipeline_c2",
                  fmt::format("{} stages on {} ranks: every rank has equally many stages, so the "
                              "number of ranks must divide {}",
                              stages, ranks, stages));
    }
    HOSTIR_ASSIGN_OR_RETURN(
        out_.schedule, make_schedule(request_.kind, ranks, stages / ranks, request_.micro_batches));
    return {};
  }

  // The mesh of all stages; a mesh without axes if they have none.
  Expected<Mesh> stage_mesh() {
    std::string name;
    for (size_t s = 0; s < request_.stages.size(); ++s) {
      for (const std::string& used : value_meshes(fusion(s)).used) {
        if (name.empty()) name = used;
        if (used == name) continue;
        return fail_at(ErrorKind::kInvalid, "pipeline_c6",
                       fmt::format("@{} uses mesh @{}, but a value before it is on @{}: all stages "
                                   "of a pipeline must be on one mesh",
                                   fusion(s).name, used, name),
                       fusion(s).name_span);
      }
    }
    const Mesh* found = program().find_mesh(name);
    Mesh mesh = found != nullptr ? *found : Mesh{};
    if (mesh.axis_index(kAxis)) {
      return fail(ErrorKind::kInvalid, "pipeline_c6",
                  fmt::format("mesh @{} has an axis \"{}\", which is the pipeline's; rename it",
                              mesh.name, kAxis));
    }
    return mesh;
  }

  Expected<void> add_meshes() {
    HOSTIR_ASSIGN_OR_RETURN(const Mesh inner, stage_mesh());
    Mesh world;
    world.name = free_symbol(program(), "world");
    world.axes = inner.axes;
    world.axes.insert(world.axes.begin(), MeshAxis{std::string(kAxis), out_.schedule.ranks});
    if (!inner.device_ids.empty()) {
      const int64_t stride =
          *std::max_element(inner.device_ids.begin(), inner.device_ids.end()) + 1;
      for (int64_t r = 0; r < out_.schedule.ranks; ++r) {
        for (const int64_t id : inner.device_ids) world.device_ids.push_back(r * stride + id);
      }
    }
    program().add_mesh(world);
    for (int64_t r = 0; r < out_.schedule.ranks; ++r) {
      Mesh sub;
      sub.name = free_symbol(program(), fmt::format("{}{}", kAxis, r));
      sub.parent = world.name;
      sub.fixed = {{std::string(kAxis), r}};
      resolve_sub_mesh(world, sub);
      program().add_mesh(sub);
      meshes_.push_back(sub.name);
    }
    host_.mesh = world.name;
    return {};
  }

  Expected<void> make_stages(const std::vector<std::vector<Role>>& roles) {
    std::vector<ShardType> inputs;
    for (size_t s = 0; s < request_.stages.size(); ++s) {
      StageRequest stage;
      stage.fusion = request_.stages[s];
      stage.name = fmt::format("stage{}", s);
      stage.mesh = meshes_[static_cast<size_t>(out_.schedule.rank_of(static_cast<int64_t>(s)))];
      stage.roles = roles[s];
      stage.inputs = inputs;
      stage.sizes = request_.sizes;
      stage.overlap = request_.overlap;
      stage.split_backward = request_.kind == ScheduleKind::kZeroBubble;
      HOSTIR_ASSIGN_OR_RETURN(Stage made, make_stage(program(), stage));
      inputs.clear();
      for (const ValueId output : made.outputs) inputs.push_back(made.layout(output));
      stages_.push_back(std::move(made));
    }
    return {};
  }

  // Gradients travel between equal positions of two stages.
  Expected<void> check_ties() const {
    for (const Tie& tie : ties_) {
      const auto layout = [&](size_t member) {
        const auto& [s, p] = tie.members[member];
        return stages_[s].layout(stages_[s].parameters[p]);
      };
      for (size_t m = 1; m < tie.members.size(); ++m) {
        const ShardType one = layout(0);
        const ShardType other = layout(m);
        if (one.dtype == other.dtype && one.shape == other.shape &&
            one.sharding->dims == other.sharding->dims)
          continue;
        const auto text = [](const ShardType& t) {
          return fmt::format("{} cut {}", shape_to_string(t.shape, t.dtype),
                             t.sharding->dims_to_string());
        };
        return fail(ErrorKind::kInvalid, "pipeline_c8",
                    fmt::format("tied %{} is {} in @{} (stage{}), but {} in @{} (stage{}): write "
                                "the same shape and sharding in both",
                                tie.name, text(one), request_.stages[tie.members[0].first],
                                tie.members[0].first, text(other),
                                request_.stages[tie.members[m].first], tie.members[m].first));
      }
    }
    return {};
  }

  std::vector<TiedResults> tied_results() const {
    std::vector<TiedResults> out;
    for (const Tie& tie : ties_) {
      const auto& [owner, parameter] = tie.members.front();
      TiedResults& made = out.emplace_back();
      made.type = stages_[owner].reduced_layout(parameter);
      for (const auto& [s, p] : tie.members)
        made.members.emplace_back(static_cast<int64_t>(s), result_of_[s][p]);
    }
    return out;
  }

  Expected<void> build_host() {
    host_.kind = FunctionKind::kHost;
    host_.name = free_symbol(program(), request_.name);
    host_.body = host_.add_region();
    HOSTIR_TRY(document());
    PipelineHost to{.host = host_,
                    .names = names_,
                    .comm = {},
                    .compute = {},
                    .p2p = {},
                    .collective = {},
                    .parameters = {},
                    .results = {},
                    .reduced = {},
                    .sums = {},
                    .add_kernel = [this](const ShardType& t, bool first, bool whole) {
                      return add_kernel(t, first, whole);
                    }};
    add_parameters(to);
    add_declarations(to);
    add_results(to);
    HOSTIR_ASSIGN_OR_RETURN(const auto steps, plan_exchanges(out_.schedule));
    for (size_t r = 0; r < meshes_.size(); ++r) {
      const RegionId region = host_.add_region();
      emit_rank(to,
                plan_rank(out_.schedule, stages_, result_of_, tied_results(), steps[r],
                          static_cast<int64_t>(r)),
                region);
      Instruction where;
      where.kind = OpKind::where;
      where.attributes.set("mesh", Symbol{meshes_[r]});
      where.regions = {region};
      host_.add_instruction(host_.body, std::move(where));
    }
    Instruction ret;
    ret.kind = OpKind::return_;
    for (const ValueId v : to.results) ret.operands.push_back(Operand{.value = v});
    host_.add_instruction(host_.body, std::move(ret));
    return {};
  }

  Expected<void> document() {
    const Schedule& s = out_.schedule;
    HOSTIR_ASSIGN_OR_RETURN(const Timetable times, make_timetable(s));
    host_.documentation.push_back(fmt::format(
        "{} stages on {} ranks, {} micro-batches, schedule {}: bubbles are {:.1f} % of the work",
        s.stages(), s.ranks, s.micro_batches, name(s.kind),
        100.0 * static_cast<double>(times.idle()) / static_cast<double>(times.busy)));
    document_sums();
    for (const Tie& tie : ties_) {
      std::string stages;
      for (const auto& [stage, p] : tie.members)
        stages += fmt::format("{}{}", stages.empty() ? "" : ", ", stage);
      host_.documentation.push_back(fmt::format(
          "tied weight %{}: stages {} each get the sum of their gradients", tie.name, stages));
    }
    std::string line;
    for (const char c : draw(times) + "\n") {
      if (c != '\n') {
        line += c;
      } else if (!line.empty()) {
        host_.documentation.push_back(std::exchange(line, {}));
      }
    }
    return {};
  }

  // Says when gradients are reduced.
  void document_sums() {
    if (request_.micro_batches == 1) return;
    std::map<std::string, size_t> at_end;  // by axes
    for (const WeightGradient& g : gradients()) {
      const AxisList& axes = g.partial.sharding->unreduced;
      if (!axes.empty()) ++at_end[axes_to_string(axes)];
    }
    for (const auto& [axes, count] : at_end) {
      host_.documentation.push_back(fmt::format(
          "gradients of {} weights: summed over {} once, after the last micro-batch", count, axes));
    }
  }

  void add_parameters(PipelineHost& to) {
    for (size_t s = 0; s < stages_.size(); ++s) {
      const Stage& stage = stages_[s];
      for (size_t p = 0; p < stage.parameters.size(); ++p) {
        if (stage.roles[p] == Role::kActivation) continue;
        ShardType type = stage.layout(stage.parameters[p]);
        if (stage.roles[p] == Role::kData) {
          type.shape.insert(type.shape.begin(), IndexExpr(request_.micro_batches));
          type.sharding->dims.insert(type.sharding->dims.begin(), DimSharding{});
        }
        const ValueId made = host_.add_value(
            names_.fresh(fmt::format("s{}.{}", s, stage.gradient.value(stage.parameters[p]).name)),
            type);
        host_.params.push_back({made, false});
        to.parameters[{static_cast<int64_t>(s), p}] = made;
      }
    }
  }

  ValueId declare(OpKind kind, const std::string& stem, Type type, Attributes attributes) {
    Instruction i = host_instruction(kind, {}, std::move(attributes));
    i.results = {host_.add_value(names_.fresh(stem), std::move(type))};
    const ValueId made = i.results[0];
    host_.add_instruction(host_.body, std::move(i));
    return made;
  }

  ValueId declare_comm(const std::string& stem, const AxisList& axes) {
    Attributes attributes;
    attributes.set("axes", axes);
    return declare(OpKind::comm, stem, CommType{}, std::move(attributes));
  }

  ValueId declare_stream(const std::string& stem, const std::string& name) {
    Attributes attributes;
    attributes.set("name", name);
    return declare(OpKind::stream, stem, StreamType{}, std::move(attributes));
  }

  void add_declarations(PipelineHost& to) {
    to.comm = declare_comm("c", {AxisRef{std::string(kAxis), 1, 0}});
    // One communicator per list of axes over which gradients are reduced at the end.
    for (const WeightGradient& g : gradients()) {
      const AxisList& axes = g.partial.sharding->unreduced;
      if (axes.empty()) continue;
      const auto [at, is_new] = to.sums.try_emplace(axes_to_string(axes));
      if (is_new) at->second = declare_comm("c_" + axes.front().name, axes);
    }
    to.compute = declare_stream("s", "compute");
    to.p2p = declare_stream("p", "p2p");
    const bool collective = std::any_of(stages_.begin(), stages_.end(), [](const Stage& s) {
      return s.forward.communicates || s.backward.communicates ||
             (s.weights && s.weights->communicates);
    });
    if (collective || !to.sums.empty()) to.collective = declare_stream("n", "comm");
  }

  struct WeightGradient {
    size_t stage = 0;
    size_t parameter = 0;
    ShardType partial;  // as it is added up
    ShardType reduced;  // as it is returned
  };

  std::vector<WeightGradient> gradients() const {
    std::vector<WeightGradient> out;
    for (size_t s = 0; s < stages_.size(); ++s) {
      const Stage& stage = stages_[s];
      for (size_t p = 0; p < stage.parameters.size(); ++p) {
        if (stage.roles[p] != Role::kWeight || !stage.d_parameters[p].valid()) continue;
        out.push_back({s, p, stage.layout(stage.d_parameters[p]), stage.reduced_layout(p)});
      }
    }
    return out;
  }

  void add_results(PipelineHost& to) {
    const ShardType loss = stages_.back().layout(stages_.back().outputs[0]);
    add_result(to, "loss", loss, loss);
    for (const Stage& stage : stages_) result_of_.emplace_back(stage.parameters.size(), 0);
    for (const WeightGradient& g : gradients()) {
      const Stage& stage = stages_[g.stage];
      result_of_[g.stage][g.parameter] = to.results.size();
      const std::string weight = stage.gradient.value(stage.parameters[g.parameter]).name;
      add_result(to, fmt::format("d_s{}.{}", g.stage, weight), g.partial, g.reduced);
    }
  }

  void add_result(PipelineHost& to, const std::string& stem, const ShardType& made,
                  const ShardType& returned) {
    Instruction alloc = host_instruction(OpKind::alloc, {{"stream", to.compute}});
    alloc.results = {host_.add_value(names_.fresh(stem), made)};
    to.results.push_back(alloc.results[0]);
    to.reduced.push_back(*returned.sharding);
    host_.results.push_back({stem, returned, std::nullopt, {}});
    host_.add_instruction(host_.body, std::move(alloc));
  }

  // `sum = share * value`, or `sum += share * value`, for any sizes; the share of a whole value
  // is 1.
  std::string add_kernel(const ShardType& type, bool first, bool whole) {
    const char* verb = first ? (whole ? "copy" : "first") : (whole ? "add_whole" : "add");
    const std::string stem = fmt::format("{}_{}d_{}", verb, type.shape.size(), name(type.dtype));
    const auto known = kernels_.find(stem);
    if (known != kernels_.end()) return known->second;
    Function kernel;
    kernel.kind = FunctionKind::kKernel;
    kernel.name = kernels_[stem] = free_symbol(program(), stem);
    kernel.body = kernel.add_region();
    TensorType operand;
    operand.dtype = type.dtype;
    for (size_t d = 0; d < type.shape.size(); ++d) {
      operand.shape.push_back(IndexExpr::size(fmt::format("N{}", d)));
    }
    const ValueId value = kernel.add_value("value", operand);
    kernel.params.push_back({value, false});
    ValueId before;
    if (!first) {
      before = kernel.add_value("before", operand);
      kernel.params.push_back({before, false});
    }
    UniqueNames names(kernel);
    ops::Builder b(kernel, kernel.body, [&](std::string_view s) { return names.fresh(s); });
    Instruction ret;
    ret.kind = OpKind::return_;
    b.begin(ret, "sum");
    const double share = request_.batch == Batch::kMean && !whole
                             ? 1.0 / static_cast<double>(request_.micro_batches)
                             : 1.0;
    ValueId sum = b.scaled(value, share);
    if (!first) sum = b.add(before, sum);
    kernel.results.push_back({"sum", operand, std::nullopt, {}});
    ret.operands.push_back(Operand{.value = sum});
    kernel.add_instruction(kernel.body, std::move(ret));
    program().add_function(compacted(kernel));
    return kernels_[stem];
  }

  const PipelineRequest& request_;
  Pipeline out_;
  std::vector<std::string> meshes_;  // of pipeline ranks
  std::vector<Stage> stages_;
  std::vector<Tie> ties_;
  std::vector<std::vector<size_t>> result_of_;  // by stage and parameter
  std::map<std::string, std::string> kernels_;  // by what they do
  Function host_;
  UniqueNames names_;
};

}  // namespace

Expected<Pipeline> make_pipeline(const Program& program, const PipelineRequest& request) {
  return PipelineMaker(program, request).run();
}

}  // namespace hostir::pipeline
