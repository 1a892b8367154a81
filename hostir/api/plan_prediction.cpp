#include "hostir/api/plan_prediction.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/passes/bind_sizes.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/redistribute_step.h"
#include "interp/core/compile_first_rank.h"
#include "interp/sim/sim_backend.h"

namespace hostir::api {

namespace {

std::string meshes_text(const Program& program) {
  std::string out;
  for (const Mesh& mesh : program.meshes) {
    out += "@" + mesh.name;
    for (const MeshAxis& axis : mesh.axes) out += " " + axis.name + "=" + std::to_string(axis.size);
  }
  return out;
}

bool cuts_in_blocks(const Type& type) {
  const auto* shard = std::get_if<ShardType>(&type);
  return shard != nullptr &&
         (has_blocks(*shard->sharding) || (shard->blocks && has_blocks(*shard->blocks)));
}

// True if every rank executes the same instructions, without sends and receives, and none holds
// more than the first: parts are equal, or only the last ones are smaller.
bool ranks_are_alike(const Function& host) {
  for (const Value& value : host.values) {
    if (cuts_in_blocks(value.type)) return false;
  }
  for (const Instruction& i : host.instructions) {
    const OpRecord& op = record(i.kind);
    if (op.role == HostRole::kBranch || op.role == HostRole::kCall) return false;
    if (i.kind == OpKind::send || i.kind == OpKind::recv) return false;
  }
  return true;
}

// The extents of the parameters, without data.
std::vector<std::pair<std::string, Tensor>> shapes_of_parameters(const Function& fusion) {
  std::vector<std::pair<std::string, Tensor>> out;
  for (const Parameter& parameter : fusion.params) {
    const Value& value = fusion.value(parameter.value);
    Tensor shape{dtype_of(value.type), {}, {}};
    for (const IndexExpr& e : shape_of(value.type)) shape.extents.push_back(e.simplified().value());
    out.emplace_back(value.name, std::move(shape));
  }
  return out;
}

std::vector<std::pair<std::string, Sharding>> shardings_of(const interp::Code& code,
                                                           const interp::RunResult& result) {
  std::vector<std::pair<std::string, Sharding>> out;
  for (const uint32_t reg : code.parameters) {
    const interp::LayoutIndex layout = code.registers[reg].layout;
    const Sharding* sharding =
        layout == interp::kNoLayout ? nullptr : sharding_of(code.layouts[layout].type);
    if (sharding != nullptr) out.emplace_back(code.register_name(reg).substr(1), *sharding);
  }
  for (const interp::NamedOutput& output : result.outputs) {
    if (const Sharding* sharding = sharding_of(output.type))
      out.emplace_back(output.name, *sharding);
  }
  return out;
}

}  // namespace

std::string Predictor::key_of(const Program& program, const Function& propagated) {
  std::string key;
  append_number(numbers_.of(meshes_text(program)), key);
  const auto add = [&](const Type& type) {
    const Sharding* sharding = sharding_of(type);
    append_number(numbers_.of(sharding != nullptr ? sharding->to_string() : ""), key);
  };
  for (const Value& value : propagated.values) add(value.type);
  for (const ResultDecl& result : propagated.results) add(result.type);
  return key;
}

Expected<std::optional<interp::Prepared>> Predictor::prepare(const Program& program,
                                                             const std::string& fusion,
                                                             std::string& key) {
  interp::Prepared out;
  LowerOptions options;
  if (!file_machine_ && !program.machines.empty()) file_machine_ = program.machines.front();
  if (file_machine_) options.machine = &*file_machine_;
  options.sizes = sizes_;
  options.overlap = overlap_;
  if (overlap_ != Overlap::kNone) options.machine = &request_.machine;
  options.moves = &moves_[meshes_text(program)];
  options.goes_on = [&](const Function& propagated) {
    key = key_of(program, propagated);
    return !known_.contains(key);
  };
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  if (known_.contains(key)) return std::nullopt;
  out.inputs = shapes_of_parameters(*lowered.program.find_function(fusion));
  out.explanation = std::move(lowered.explanation);
  std::erase_if(out.explanation, [](const ExplainRecord& r) { return r.pass != "reshard"; });
  interp::CodeOptions code;
  code.entry = lowered.function;
  code.sizes = sizes_;
  out.program = std::make_shared<const Program>(std::move(lowered.program));
  const bool alike = ranks_ == Ranks::kOneForAll && overlap_ == Overlap::kNone &&
                     ranks_are_alike(*out.program->find_function(lowered.function));
  HOSTIR_ASSIGN_OR_RETURN(out.code, alike ? interp::compile_for_first_rank(out.program, code)
                                          : interp::compile_code(out.program, code));
  return out;
}

Expected<Prediction> Predictor::predict(const Program& program, const std::string& fusion) {
  std::string key;
  HOSTIR_ASSIGN_OR_RETURN(const std::optional<interp::Prepared> fresh,
                          prepare(program, fusion, key));
  if (!fresh) return known_.at(key);
  const interp::Prepared& prepared = *fresh;
  interp::RunOptions options;
  options.backend = request_;
  options.backend.max_memory_bytes = INT64_MAX;  // plans that do not fit are still predicted
  sim::SimOptions simulated;
  simulated.machine = request_.machine;
  simulated.values = sim::SimOptions::Values::kNone;
  if (ranks_ == Ranks::kOneForAll && overlap_ == Overlap::kNone &&
      ranks_are_alike(*prepared.code->functions.front())) {
    simulated.members = sim::SimOptions::Members::kAlike;
    options.first_for_all = true;
  }
  const auto make_backend = [&](const interp::BackendRequest&) {
    return Expected<std::unique_ptr<interp::Backend>>(sim::make_sim_backend(simulated));
  };
  HOSTIR_ASSIGN_OR_RETURN(interp::RunResult result, interp::run(prepared, make_backend, options));
  if (const interp::Fault* fault = result.worst()) return tl::unexpected(to_error(*fault));
  Prediction out;
  out.time_ns = result.finished_ns;
  for (const int64_t bytes : result.peak_bytes) out.peak_bytes = std::max(out.peak_bytes, bytes);
  out.shardings = shardings_of(*prepared.code, result);
  out.collectives = std::move(result.collectives);
  out.explanation = prepared.explanation;
  known_.emplace(std::move(key), out);
  return out;
}

}  // namespace hostir::api
