#include "hostir/passes/pipeline/stage.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/compact.h"
#include "hostir/ops/apply.h"
#include "hostir/ops/differentiate.h"
#include "hostir/ops/value_meshes.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/stream_order.h"
#include "hostir/passes/pipeline/cut_gradient.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir::pipeline {

namespace {

bool is_real(const Type& type) { return is_float(dtype_of(type)); }

// Moves all shardings to another mesh with the same axes.
void move_to_mesh(Function& fusion, const std::string& mesh) {
  const auto move = [&](Type& type) {
    auto* tensor = std::get_if<TensorType>(&type);
    if (tensor != nullptr && tensor->sharding) tensor->sharding->mesh = mesh;
  };
  for (Value& v : fusion.values) move(v.type);
  for (ResultDecl& r : fusion.results) move(r.type);
  for (Instruction& i : fusion.instructions) {
    const Attributes before = i.attributes;  // the loop changes those of `i`
    for (const auto& [key, attribute] : before.entries()) {
      if (const auto* sharding = std::get_if<Sharding>(&attribute)) {
        Sharding moved = *sharding;
        moved.mesh = mesh;
        i.attributes.set(key, moved);
      }
    }
  }
}

Sharding closed(Sharding s) {
  s.unreduced.clear();
  s.unreduced_kind = Reduction::kSum;
  s.pinned.clear();
  for (DimSharding& d : s.dims) {
    d.open = false;
    d.priority = 0;
  }
  return s;
}

class StageMaker {
 public:
  StageMaker(Program& program, const StageRequest& request)
      : program_(program), request_(request) {}

  Expected<Stage> run() {
    Function fusion = *program_.find_function(request_.fusion);
    fusion.comments = {};
    fusion.documentation.clear();
    move_to_mesh(fusion, request_.mesh);
    HOSTIR_TRY(place_inputs(fusion));
    HOSTIR_TRY(differentiate_for(fusion));
    HOSTIR_TRY(lower_parts());
    return std::move(out_);
  }

 private:
  // The stage's mesh as if there were no other ranks: its host functions run on these alone.
  Mesh mesh_alone() const {
    Mesh mesh = *program_.find_mesh(request_.mesh);
    mesh.parent.clear();
    mesh.fixed.clear();
    const std::vector<int64_t> ranks = mesh.ranks();
    const int64_t first = *std::min_element(ranks.begin(), ranks.end());
    for (int64_t& id : mesh.device_ids) id -= first;
    return mesh;
  }

  Expected<Lowered> lower_alone(const std::string& fusion, const LowerOptions& options) const {
    Program program = program_;
    const auto named = [&](const Mesh& m) { return m.name == request_.mesh; };
    *std::find_if(program.meshes.begin(), program.meshes.end(), named) = mesh_alone();
    HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
    auto& meshes = lowered.program.meshes;
    *std::find_if(meshes.begin(), meshes.end(), named) = *program_.find_mesh(request_.mesh);
    return lowered;
  }

  // Activations keep the layout in which the previous stage made them. A fusion that is on no mesh
  // gets the stage's through its first parameter.
  Expected<void> place_inputs(Function& fusion) {
    size_t next = 0;
    for (size_t p = 0; p < fusion.params.size(); ++p) {
      Value& value = fusion.value(fusion.params[p].value);
      auto& type = std::get<TensorType>(value.type);
      if (request_.roles[p] == Role::kActivation) {
        const ShardType& given = request_.inputs[next++];
        HOSTIR_TRY(check_input(fusion, value, type, given));
        type.sharding = given.sharding;
        type.sharding->mesh = request_.mesh;
      }
      if (p == 0 && !type.sharding) {
        const bool placed = !value_meshes(fusion).used.empty();
        if (!placed) type.sharding = Sharding::replicated(request_.mesh, type.shape.size());
      }
    }
    return {};
  }

  Expected<void> check_input(const Function& fusion, const Value& value, const TensorType& type,
                             const ShardType& given) const {
    const auto shape = [](const Shape& s, DType dtype) { return shape_to_string(s, dtype); };
    if (type.dtype != given.dtype || !may_equal(type.shape, given.shape)) {
      return fail_at(ErrorKind::kInvalid, "pipeline_c3",
                     fmt::format("%{} of {} is {}, but the previous stage makes {}", value.name,
                                 describe(fusion), shape(type.shape, type.dtype),
                                 shape(given.shape, given.dtype)),
                     value.span);
    }
    if (!type.sharding) return {};
    const Sharding wanted = closed(*type.sharding);
    if (wanted.dims == given.sharding->dims) return {};
    return fail_at(ErrorKind::kInvalid, "pipeline_c3",
                   fmt::format("%{} of {} is placed {}, but the previous stage makes it {}; write "
                               "the same sharding on both, or none here",
                               value.name, describe(fusion), wanted.dims_to_string(),
                               given.sharding->dims_to_string()),
                   value.span);
  }

  // Symbolic sizes may be equal; they are compared when the program runs.
  static bool may_equal(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const IndexExpr& x, const IndexExpr& y) {
                        return !x.is_const() || !y.is_const() || x.value() == y.value();
                      });
  }

  std::string describe(const Function& fusion) const {
    return fmt::format("@{} ({})", fusion.name, request_.name);
  }

  Expected<void> differentiate_for(const Function& fusion) {
    std::vector<std::string> wrt;
    std::vector<size_t> parameters;
    for (size_t p = 0; p < fusion.params.size(); ++p) {
      const Value& value = fusion.value(fusion.params[p].value);
      if (request_.roles[p] == Role::kData || !is_real(value.type)) continue;
      wrt.push_back(value.name);
      parameters.push_back(p);
    }
    if (wrt.empty()) {
      return fail_at(ErrorKind::kInvalid, "pipeline_c4",
                     fmt::format("{} has neither activations nor weights of floating-point "
                                 "numbers: there is nothing to differentiate for",
                                 describe(fusion)),
                     fusion.name_span);
    }
    Program alone;
    alone.add_mesh(mesh_alone());
    HOSTIR_ASSIGN_OR_RETURN(Function gradient,
                            differentiate(program_, fusion, request_.name + ".gradient", wrt));
    ops::add_applied(program_, gradient, alone);
    alone.add_function(std::move(gradient));
    LowerOptions options;
    options.sizes = request_.sizes;
    options.until = LowerPhase::kPropagated;
    options.overlap = request_.overlap;  // rings, before the parts are cut
    HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(alone, request_.name + ".gradient", options));
    out_.gradient = *lowered.program.find_function(request_.name + ".gradient");
    find_values(fusion, parameters);
    return {};
  }

  // The gradient's parameters are the fusion's, then cotangents; its results the fusion's, then
  // gradients.
  void find_values(const Function& fusion, const std::vector<size_t>& differentiated) {
    const Function& g = out_.gradient;
    out_.roles = request_.roles;
    for (size_t p = 0; p < fusion.params.size(); ++p) {
      out_.parameters.push_back(g.params[p].value);
    }
    const auto& returned = g.instr(body_of(g).back()).operands;
    const size_t outputs = fusion.results.size();
    size_t next = fusion.params.size();
    const bool has_cotangents = g.params.size() > next;
    for (size_t r = 0; r < outputs; ++r) {
      const ValueId value = returned[r].value;
      out_.outputs.push_back(value);
      const bool real = has_cotangents && is_real(g.value(value).type);
      out_.d_outputs.push_back(real ? g.params[next++].value : ValueId());
      declare(value, fusion.results[r].type);
    }
    out_.d_parameters.resize(fusion.params.size());
    for (size_t n = 0; n < differentiated.size(); ++n) {
      const size_t p = differentiated[n];
      const ValueId value = returned[outputs + n].value;
      out_.d_parameters[p] = value;
      out_.declared.emplace_back(value, *out_.layout(out_.parameters[p]).sharding);
    }
    for (size_t r = 0; r < outputs; ++r) {
      if (!out_.d_outputs[r].valid()) continue;
      out_.declared.emplace_back(out_.d_outputs[r], *out_.layout(out_.outputs[r]).sharding);
    }
  }

  void declare(ValueId value, const Type& type) {
    if (const Sharding* sharding = sharding_of(type)) {
      out_.declared.emplace_back(value, closed(*sharding));
    }
  }

  Expected<void> lower_parts() {
    std::vector<ValueId> activations;
    std::vector<ValueId> weights;
    for (size_t p = 0; p < out_.parameters.size(); ++p) {
      if (!out_.d_parameters[p].valid()) continue;
      const bool weight = out_.roles[p] == Role::kWeight;
      (weight ? weights : activations).push_back(out_.d_parameters[p]);
    }
    std::vector<std::vector<ValueId>> wanted = {out_.outputs, activations};
    if (request_.split_backward) {
      wanted.push_back(weights);
    } else {
      wanted[1].insert(wanted[1].end(), weights.begin(), weights.end());
    }
    const std::vector<Part> parts = cut_by_results(out_.gradient, wanted);
    HOSTIR_ASSIGN_OR_RETURN(out_.forward, lower_part(parts[0], "forward", wanted[0].size()));
    const char* name = request_.split_backward ? "backward_input" : "backward";
    HOSTIR_ASSIGN_OR_RETURN(out_.backward, lower_part(parts[1], name, wanted[1].size()));
    if (!request_.split_backward) return {};
    HOSTIR_ASSIGN_OR_RETURN(out_.weights,
                            lower_part(parts[2], "backward_weight", wanted[2].size()));
    return {};
  }

  Expected<Phase> lower_part(const Part& part, const std::string& suffix, size_t kept) {
    Phase phase;
    phase.arguments = part.arguments;
    phase.results = part.results;
    phase.kept = kept;
    if (part.results.empty()) return phase;  // nothing to do: no weights, or no activations
    const std::string name = free_symbol(program_, request_.name + "." + suffix);
    const auto as_laid_out = [&] {
      return fusion_of(out_.gradient, part, name,
                       [&](ValueId v) { return *out_.layout(v).sharding; });
    };
    program_.add_function(as_laid_out());
    LowerOptions options;
    options.sizes = request_.sizes;
    options.overlap = request_.overlap;
    HOSTIR_ASSIGN_OR_RETURN(const bool changed, leave_partial(part, name, options));
    if (changed) *program_.find_function(name) = as_laid_out();
    HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower_alone(name, options));
    program_ = std::move(lowered.program);
    phase.host = lowered.function;
    join_streams(*program_.find_function(phase.host), phase);
    return phase;
  }

  // Declares gradients of weights partial that the part would only reduce to return them.
  Expected<bool> leave_partial(const Part& part, const std::string& name, LowerOptions options) {
    const auto is_gradient = [&](ValueId v) {
      const auto& all = out_.d_parameters;
      const auto at = std::find(all.begin(), all.end(), v);
      return at != all.end() && std::count(all.begin(), all.end(), v) == 1 &&
             out_.roles[static_cast<size_t>(at - all.begin())] == Role::kWeight;
    };
    if (program_.find_mesh(request_.mesh)->size() == 1 ||
        std::none_of(part.results.begin(), part.results.end(), is_gradient))
      return false;
    options.until = LowerPhase::kSharded;
    HOSTIR_ASSIGN_OR_RETURN(const Lowered lowered, lower_alone(name, options));
    const Function& f = lowered.sharded;
    const auto& returned = f.instr(body_of(f).back()).operands;
    bool changed = false;
    for (size_t r = 0; r < part.results.size(); ++r) {
      const InstrId by = f.value(returned[r].value).defined_by;
      if (!is_gradient(part.results[r]) || !by.valid() || f.instr(by).kind != OpKind::reshard)
        continue;
      const Sharding& from = sharding_at(f, f.instr(by).operands.front().value);
      const Sharding& to = sharding_at(f, returned[r].value);
      if (!from.is_partial() || from.unreduced_kind != Reduction::kSum || from.mesh != to.mesh ||
          from.dims != to.dims)
        continue;
      std::erase_if(out_.declared, [&](const auto& d) { return d.first == part.results[r]; });
      out_.declared.emplace_back(part.results[r], from);
      changed = true;
    }
    return changed;
  }

  // Adds waits before `return`: of the streams for each other and of "p2p" for all.
  void join_streams(Function& host, Phase& phase) {
    UniqueNames names(host);
    std::vector<InstrId>& body = host.region(host.body).instructions;
    const InstrId ret = body.back();
    body.pop_back();
    std::vector<std::pair<ValueId, InstrId>> last;  // by stream: its last task
    size_t declarations = 0;
    for (const InstrId id : body) {
      const Instruction& i = host.instr(id);
      if (i.kind == OpKind::stream) last.emplace_back(i.results.front(), InstrId());
      if (i.kind == OpKind::stream || i.kind == OpKind::comm) ++declarations;
      if (!yields_event(i)) continue;
      for (auto& [stream, task] : last) {
        if (task_stream(host, i) == stream) task = id;
      }
    }
    std::erase_if(last, [](const auto& entry) { return !entry.second.valid(); });
    phase.communicates = last.size() > 1;
    const ValueId p2p = host.add_value(names.fresh("p"), StreamType{});
    Attributes named;
    named.set("name", std::string("p2p"));
    Instruction stream = host_instruction(OpKind::stream, {}, std::move(named));
    stream.results = {p2p};
    const InstrId declared = host.add_instruction(host.body, std::move(stream));
    std::vector<InstrId>& now = host.region(host.body).instructions;
    now.pop_back();
    now.insert(now.begin() + static_cast<std::ptrdiff_t>(declarations), declared);
    for (const auto& [own, task] : last) {
      const ValueId event = event_of(host, names, task, "done");
      for (const auto& [other, unused] : last) {
        if (other != own) wait(host, event, other);
      }
      wait(host, event, p2p);
    }
    host.region(host.body).instructions.push_back(ret);
    host = compacted(host);
  }

  static void wait(Function& host, ValueId event, ValueId stream) {
    host.add_instruction(host.body,
                         host_instruction(OpKind::wait, {{"event", event}, {"stream", stream}}));
  }

  Program& program_;
  const StageRequest& request_;
  Stage out_;
};

}  // namespace

ShardType Stage::layout(ValueId value) const {
  const auto& type = std::get<TensorType>(gradient.value(value).type);
  const auto written = std::find_if(declared.begin(), declared.end(),
                                    [&](const auto& entry) { return entry.first == value; });
  return {type.dtype, type.shape,
          written != declared.end() ? written->second : closed(*type.sharding), std::nullopt};
}

ShardType Stage::reduced_layout(size_t parameter) const {
  ShardType out = layout(d_parameters[parameter]);
  out.sharding = layout(parameters[parameter]).sharding;
  return out;
}

Expected<Stage> make_stage(Program& program, const StageRequest& request) {
  return StageMaker(program, request).run();
}

}  // namespace hostir::pipeline
