#include "hostir/api/plan/plan_prediction.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/redistribute/redistribute_step.h"
#include "interp/core/code/compile_first_rank.h"
#include "interp/core/forwarding_sink.h"
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

// The optimizer's state on one rank: it is cut like the trained parameters that `code` takes.
int64_t optimizer_bytes(const interp::Code& code, const std::set<std::string>& trained,
                        int64_t numbers) {
  double elems = 0;
  for (const uint32_t reg : code.parameters) {
    const interp::LayoutIndex layout = code.registers[reg].layout;
    if (layout == interp::kNoLayout || !trained.contains(code.register_name(reg).substr(1)))
      continue;
    const Type& type = code.layouts[layout].type;
    const Sharding& sharding = *sharding_of(type);
    elems += largest_local_elems(*code.program->find_mesh(sharding.mesh), shape_of(type), sharding);
  }
  return static_cast<int64_t>(elems) * numbers * size_bytes(DType::kF32);
}

}  // namespace

std::string KnownPredictions::key_of(const Program& program, const Function& propagated) {
  std::vector<std::string> texts = {meshes_text(program)};
  const auto add = [&](const Type& type) {
    const Sharding* sharding = sharding_of(type);
    texts.push_back(sharding != nullptr ? sharding->to_string() : "");
  };
  for (const Value& value : propagated.values) add(value.type);
  for (const ResultDecl& result : propagated.results) add(result.type);
  std::string key;
  const std::lock_guard lock(mutex_);
  for (const std::string& text : texts) append_number(numbers_.of(text), key);
  return key;
}

std::optional<Prediction> KnownPredictions::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

void KnownPredictions::keep(std::string key, const Prediction& prediction) {
  const std::lock_guard lock(mutex_);
  by_key_.try_emplace(std::move(key), prediction);
}

bool Predictor::is_one_for_all(const Function& host) const {
  return options_.ranks == PredictorOptions::Ranks::kOneForAll &&
         options_.overlap == Overlap::kNone && ranks_are_alike(host);
}

Expected<Predictor::Lowering> Predictor::prepare(const Program& program, const std::string& fusion,
                                                 const NamedHomes* homes) {
  Lowering out;
  interp::Prepared& prepared = out.prepared;
  LowerOptions options;
  if (!file_machine_ && !program.machines.empty()) file_machine_ = program.machines.front();
  if (file_machine_) options.machine = &*file_machine_;
  options.sizes = options_.sizes;
  options.homes = homes;
  options.overlap = options_.overlap;
  if (options.overlap != Overlap::kNone) options.machine = &options_.request.machine;
  options.moves = &moves_[meshes_text(program)];
  options.goes_on = [&](const Function& propagated) {
    out.key = known_.key_of(program, propagated);
    out.known = known_.find(out.key);
    return !out.known;
  };
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  out.homes = std::move(lowered.homes);
  if (out.known) return out;
  prepared.inputs = shapes_of_parameters(*lowered.program.find_function(fusion));
  prepared.explanation = std::move(lowered.explanation);
  std::erase_if(prepared.explanation, [](const ExplainRecord& r) { return r.pass != "reshard"; });
  interp::CodeOptions code;
  code.entry = lowered.function;
  code.sizes = options_.sizes;
  prepared.program = std::make_shared<const Program>(std::move(lowered.program));
  const bool alike = is_one_for_all(*prepared.program->find_function(lowered.function));
  HOSTIR_ASSIGN_OR_RETURN(prepared.code,
                          alike ? interp::compile_for_first_rank(prepared.program, code)
                                : interp::compile_code(prepared.program, code));
  return out;
}

Expected<Prediction> Predictor::predict(const Program& program, const std::string& fusion,
                                        Explain explain, const NamedHomes* homes) {
  HOSTIR_ASSIGN_OR_RETURN(Lowering lowering, prepare(program, fusion, homes));
  if (lowering.known) {
    lowering.known->homes = std::move(lowering.homes);
    return std::move(*lowering.known);
  }
  const interp::Prepared& prepared = lowering.prepared;
  interp::RunOptions options;
  options.backend = options_.request;
  options.backend.max_memory_bytes = INT64_MAX;  // plans that do not fit are still predicted
  sim::SimOptions simulated;
  simulated.machine = options_.request.machine;
  simulated.values = sim::SimOptions::Values::kNone;
  const std::set<std::string> trained = trained_parameters(*program.find_function(fusion));
  const int64_t optimizer = optimizer_bytes(*prepared.code, trained, options_.optimizer_numbers);
  RunProfile profile(*prepared.code, trained, optimizer);
  options.trace = &profile;
  const bool is_alike = is_one_for_all(*prepared.code->functions.front());
  if (is_alike) {
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
  out.peak_bytes += optimizer;
  if (is_alike) out.live_bytes = profile.live_bytes();
  out.memory = profile.memory_at_peak();
  out.times = profile.times();
  out.shardings = shardings_of(*prepared.code, result);
  out.collectives = std::move(result.collectives);
  out.homes = std::move(lowering.homes);
  if (explain == Explain::kYes) out.explanation = prepared.explanation;
  known_.keep(std::move(lowering.key), out);
  return out;
}

}  // namespace hostir::api
