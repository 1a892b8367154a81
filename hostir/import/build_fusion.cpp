#include "hostir/import/build_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hostir/support/characters.h"

namespace hostir::importer {

std::string plain_name(std::string_view name, std::string_view fallback) {
  std::string out;
  for (const char c : name) {
    if (is_word_start(c) || (is_digit(c) && !out.empty()))
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? std::string(fallback) : out;
}

void add_meshes(const Module& module, Program& program) {
  for (const Mesh& mesh : module.meshes) {
    const auto same = [&](const Mesh& ours) {
      return ours.axes == mesh.axes && ours.device_ids == mesh.device_ids;
    };
    if (mesh.axes.empty() || std::any_of(program.meshes.begin(), program.meshes.end(), same))
      continue;
    Mesh ours = mesh;
    ours.name = plain_name(mesh.name, "mesh");
    while (program.find_mesh(ours.name) != nullptr) ours.name += "_";
    program.add_mesh(std::move(ours));
  }
}

void drop_unused(Function& function) {
  std::vector<bool> used(function.values.size(), false);
  auto& list = function.region(function.body).instructions;
  std::vector<InstrId> kept;
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    const Instruction& instruction = function.instr(*it);
    const bool wanted = instruction.results.empty() ||
                        std::any_of(instruction.results.begin(), instruction.results.end(),
                                    [&](ValueId v) { return used[v.index]; });
    if (!wanted) continue;
    for (const Operand& operand : instruction.operands) {
      if (operand.value.valid()) used[operand.value.index] = true;
    }
    kept.push_back(*it);
  }
  std::reverse(kept.begin(), kept.end());
  list = std::move(kept);
}

void add_return(Function& function, const std::vector<ValueId>& values) {
  Instruction instruction;
  instruction.kind = OpKind::return_;
  for (const ValueId value : values) {
    Operand operand;
    operand.value = value;
    instruction.operands.push_back(operand);
  }
  function.add_instruction(function.body, std::move(instruction));
}

namespace {

constexpr const char* kUnfinished = "unfinished_loops";

std::optional<Sharding> our_sharding(const Emitter& emitter, const Port& port) {
  if (!port.sharding || port.sharding->dims.size() != port.type.dims.size()) return std::nullopt;
  const Mesh* mesh = emitter.mesh_of(*port.sharding);
  if (mesh == nullptr) return std::nullopt;
  Sharding out = *port.sharding;
  out.mesh = mesh->name;
  return out;
}

// Adds a result that is true if a loop has not ended within the unrolled passes. Devices of a
// manual computation may differ; it is enough that the loop still runs on one of them.
Expected<void> add_unfinished(Emitter& emitter, Function& fusion, std::vector<ValueId>& returned,
                              ImportReport& report) {
  std::optional<Known> any;
  for (const Emitter::CutLoop& loop : emitter.cut()) {
    const auto noted = [&](const Diagnostic& note) { return note.span.begin == loop.place.begin; };
    if (std::none_of(report.notes.begin(), report.notes.end(), noted))
      report.notes.push_back(
          {Severity::kNote,
           "import_loop",
           fmt::format("the end of a loop depends on data{}: {} iterations are unrolled; if these "
                       "are not enough, the last result, %{}, is true",
                       loop.bound.empty() ? " and has no bound"
                                          : ", and it then compares its counter, " + loop.bound,
                       loop.passes, kUnfinished),
           loop.place,
           {}});
    Known runs = loop.still_runs;
    HOSTIR_ASSIGN_OR_RETURN(runs.value, emitter.materialise(runs));
    const auto& type = std::get<TensorType>(fusion.value(runs.value).type);
    runs.type = tensor_type("i1", std::vector<int64_t>(type.shape.size(), 1));
    runs.lead.clear();
    std::vector<int64_t> dims(type.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    if (!dims.empty()) {
      HOSTIR_ASSIGN_OR_RETURN(const Known number, emitter.cast(runs, "i32"));
      HOSTIR_ASSIGN_OR_RETURN(const Known most, emitter.reduced(OpKind::reduce_max, number, dims));
      HOSTIR_ASSIGN_OR_RETURN(runs, emitter.compared(most, emitter.integer(0, most.type), "ne"));
    }
    if (any) {
      HOSTIR_ASSIGN_OR_RETURN(runs, emitter.apply(OpKind::logical_or, {*any, runs}));
    }
    any = std::move(runs);
  }
  if (!any) return {};
  ResultDecl declared;
  declared.name = kUnfinished;
  TensorType type;
  type.dtype = DType::kI1;
  declared.type = std::move(type);
  HOSTIR_ASSIGN_OR_RETURN(const ValueId value, emitter.materialise(*any));
  returned.push_back(value);
  fusion.results.push_back(std::move(declared));
  report.unfinished = kUnfinished;
  return {};
}

}  // namespace

std::string result_name(const Port& port) {
  std::string_view info = port.info;
  if (info.starts_with("result")) info.remove_prefix(6);
  const std::string name = plain_name(info, "");
  return std::all_of(name.begin(), name.end(), [](char c) { return c == '_'; }) ? "" : name;
}

Expected<void> build_fusion(const Module& module, const ModuleFunction& entry, Program& program,
                            ImportReport& report) {
  Function fusion;
  fusion.kind = FunctionKind::kFusion;
  fusion.name = plain_name(module.name, "main");
  Emitter emitter(module, program, fusion, report);
  emitter.allow_cut_loops();
  Frame frame(entry.values.size());
  for (size_t p = 0; p < entry.params.size(); ++p) {
    const Port& port = entry.params[p];
    HOSTIR_ASSIGN_OR_RETURN(TensorType type, our_type(port.type, port.span));
    type.sharding = our_sharding(emitter, port);
    const ValueNumber number = entry.body.arguments[p];
    const Known known = emitter.parameter(entry.values[number].name, port.type, std::move(type));
    fusion.params.push_back({known.value, false});
    const auto given = module.known_arguments.find(p);
    frame[number] =
        given == module.known_arguments.end() ? known : emitter.integer(given->second, port.type);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto results, emitter.block(entry, entry.body, frame));
  if (results.size() != entry.results.size()) {
    return fail_at(ErrorKind::kInvalid, "import_c5",
                   fmt::format("the function declares {} results but returns {}",
                               entry.results.size(), results.size()),
                   entry.span);
  }
  std::vector<ValueId> returned;
  for (size_t r = 0; r < results.size(); ++r) {
    const Port& port = entry.results[r];
    if (results[r].type != port.type) {
      return fail_at(ErrorKind::kInvalid, "import_c2",
                     "the function returns " + results[r].type.to_string() + " where it declares " +
                         port.type.to_string(),
                     port.span);
    }
    HOSTIR_ASSIGN_OR_RETURN(const ValueId value, emitter.materialise(results[r]));
    ResultDecl declared;
    HOSTIR_ASSIGN_OR_RETURN(TensorType type, our_type(port.type, port.span));
    type.sharding = our_sharding(emitter, port);
    // A result without a sharding is left to propagation, as in JAX. Without `?` it would be
    // replicated.
    if (!type.sharding && !program.meshes.empty()) {
      type.sharding = Sharding::replicated(program.meshes.front().name, type.shape.size());
      for (DimSharding& dim : type.sharding->dims) dim.open = true;
    }
    declared.type = std::move(type);
    declared.name = result_name(port);
    returned.push_back(value);
    fusion.results.push_back(std::move(declared));
  }
  HOSTIR_TRY(add_unfinished(emitter, fusion, returned, report));
  for (size_t r = 0; r < fusion.results.size();
       ++r) {  // a name that is not unique is dropped: the position identifies the result
    for (size_t q = 0; q < r; ++q) {
      if (fusion.results[q].name == fusion.results[r].name) fusion.results[r].name.clear();
    }
  }
  add_return(fusion, returned);
  drop_unused(fusion);
  program.add_function(std::move(fusion));
  return {};
}

}  // namespace hostir::importer
