// The steps of prepare(): meshes, stored inputs, sizes, lowering, code, tensors.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/io/generate.h"
#include "hostir/ops/loops.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/passes/prepare/resize_mesh.h"
#include "hostir/support/lists.h"
#include "interp/session/prepare/input_values.h"
#include "interp/session/prepare/lowering.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {
namespace {

Expected<const Function*> chosen_function(const Program& program, const std::string& name) {
  const Function* f = name.empty() ? program.main_function() : program.find_function(name);
  if (!f) {
    return fail(ErrorKind::kUsage, "no_function",
                name.empty() ? std::string("the program has no fusion and no host function")
                             : fmt::format("the program has no function @{}", name));
  }
  if (f->kind == FunctionKind::kKernel) {
    return fail(
        ErrorKind::kUsage, "no_function",
        fmt::format("@{} is a kernel; run the fusion or host function that launches it", f->name));
  }
  return f;
}

void add_mesh_name(std::vector<std::string>& names, const Program& program, std::string name) {
  for (const Mesh* mesh = program.find_mesh(name); mesh && !mesh->parent.empty();
       mesh = program.find_mesh(name))
    name = mesh->parent;
  if (name.empty() || contains(names, name)) return;
  names.push_back(std::move(name));
}

// The root meshes that the function uses; all meshes of the file if it names none.
std::vector<std::string> meshes_of(const Program& program, const Function& function) {
  std::vector<std::string> names;
  add_mesh_name(names, program, function.mesh);
  for (const Value& v : function.values) {
    if (const Sharding* s = sharding_of(v.type)) add_mesh_name(names, program, s->mesh);
  }
  if (names.empty()) {
    for (const Mesh& m : program.meshes) add_mesh_name(names, program, m.name);
  }
  return names;
}

Expected<void> resize_axis(Program& program, const std::string& function, const std::string& axis,
                           int64_t size) {
  const std::vector<std::string> names = meshes_of(program, *program.find_function(function));
  std::string axes;
  for (const std::string& name : names) {
    const Mesh& mesh = *program.find_mesh(name);
    if (mesh.axis_index(axis)) {
      HOSTIR_ASSIGN_OR_RETURN(program, resize_mesh(program, name, axis, size));
      return {};
    }
    for (const MeshAxis& a : mesh.axes) axes += (axes.empty() ? "" : ", ") + a.name;
  }
  return fail(ErrorKind::kUsage, "resize_c1",
              fmt::format("no mesh of @{} has an axis \"{}\"; there is {}", function, axis,
                          axes.empty() ? "no mesh" : axes));
}

Expected<void> resize_ranks(Program& program, const std::string& function, int64_t ranks) {
  const std::vector<std::string> names = meshes_of(program, *program.find_function(function));
  const Mesh* mesh = names.size() == 1 ? program.find_mesh(names.front()) : nullptr;
  if (names.empty()) {
    return fail(ErrorKind::kUsage, "resize_c1",
                fmt::format("@{} has no mesh, so it runs on one rank, not on {}", function, ranks));
  }
  if (!mesh || mesh->axes.size() != 1) {
    const Mesh& first = *program.find_mesh(names.front());
    return fail(ErrorKind::kUsage, "resize_c1",
                fmt::format("@{} is not on one mesh with one axis; say which axis, as in "
                            "--mesh {}={}",
                            function, first.axes.empty() ? "tp" : first.axes.front().name, ranks));
  }
  return resize_axis(program, function, std::string(mesh->axes.front().name), ranks);
}

// Inline values and files have extents that bind sizes, so they are read first.
Expected<std::vector<NamedInput>> with_stored_values(const std::vector<NamedInput>& inputs,
                                                     const std::string& directory,
                                                     const PrepareProgress& watch) {
  std::vector<NamedInput> out = inputs;
  for (NamedInput& input : out) {
    const auto* spec = std::get_if<ValueSpec>(&input.value);
    if (!spec || (spec->kind != ValueSpec::Kind::kInline && spec->kind != ValueSpec::Kind::kFile))
      continue;
    HOSTIR_TRY(watch.begin("reading the input %" + input.name));
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, io::materialise(*spec, directory, nullptr, nullptr));
    input.value = std::move(tensor);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> generator_texts(
    const std::vector<NamedInput>& inputs) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const NamedInput& input : inputs) {
    if (const auto* spec = std::get_if<ValueSpec>(&input.value))
      out.emplace_back(input.name, io::format_value_spec(*spec));
  }
  return out;
}

RunChoices choices_of(const Program& program, const std::string& function) {
  RunChoices out;
  out.function = function;
  for (const Function& f : program.functions) {
    if (f.kind == FunctionKind::kFusion || f.kind == FunctionKind::kHost)
      out.functions.push_back({f.name, f.kind == FunctionKind::kFusion});
  }
  for (const std::string& name : meshes_of(program, *program.find_function(function))) {
    const Mesh& mesh = *program.find_mesh(name);
    if (!mesh.parent.empty()) continue;
    for (const MeshAxis& axis : mesh.axes) {
      // An axis is resized by name: if two meshes have an axis of that name, the first counts.
      const bool known = std::any_of(out.axes.begin(), out.axes.end(),
                                     [&](const auto& a) { return a.axis == axis.name; });
      if (!known) out.axes.push_back({mesh.name, axis.name, axis.size});
    }
  }
  return out;
}

}  // namespace

Expected<Program> resized_program(const Program& original, const std::string& function,
                                  const PrepareOptions& options) {
  Program program = original;
  for (const auto& [axis, size] : options.mesh_sizes)
    HOSTIR_TRY(resize_axis(program, function, axis, size));
  if (options.ranks) HOSTIR_TRY(resize_ranks(program, function, *options.ranks));
  return program;
}

Expected<std::shared_ptr<const Prepared>> prepare(const Program& original,
                                                  const std::vector<NamedInput>& inputs,
                                                  const PrepareOptions& options) {
  auto out = std::make_shared<Prepared>();
  out->options = options;
  out->options.sources = nullptr;
  out->options.recorded = nullptr;
  out->recorded = options.recorded != nullptr;
  out->options.watch = {};
  HOSTIR_ASSIGN_OR_RETURN(const Function* chosen, chosen_function(original, options.function));
  out->function = chosen->name;

  HOSTIR_ASSIGN_OR_RETURN(Program program, resized_program(original, out->function, options));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<NamedInput> stored,
                          with_stored_values(inputs, options.base_directory, options.watch));
  HOSTIR_ASSIGN_OR_RETURN(
      const SizeBindings sizes,
      sizes_from_inputs(*program.find_function(out->function), stored, options.sizes));
  HOSTIR_ASSIGN_OR_RETURN(program, bind_sizes(program, out->function, sizes));
  HOSTIR_ASSIGN_OR_RETURN(out->inputs, input_tensors(*program.find_function(out->function), stored,
                                                     options.base_directory, options.watch));
  out->input_texts = generator_texts(stored);

  out->source = std::make_shared<const Program>(program);

  std::string entry = out->function;
  PhaseTexts phases;
  if (program.find_function(entry)->kind == FunctionKind::kFusion) {
    const LoweringRequest request = {options.keep, options.overlap, options.overlap_machine,
                                     options.alternatives};
    HOSTIR_ASSIGN_OR_RETURN(LoweredFusion lowered,
                            lower_fusion(program, entry, request, options.watch));
    phases = phases_of(out->source, out->function, request);
    if (has_loops(*program.find_function(entry))) {
      *program.find_function(entry) = *lowered.program.find_function(entry);
      out->source = std::make_shared<const Program>(std::move(program));
    }
    out->loop_values = std::move(lowered.loop_values);
    program = std::move(lowered.program);
    entry = std::move(lowered.host);
    out->explanation = std::move(lowered.explanation);
    out->value_names = std::move(lowered.value_names);
    out->lowered = true;
  }
  ProgramViewOptions view;
  view.entry = entry;
  view.sizes = sizes;
  view.phases = std::move(phases);
  view.given = options.sources;
  if (options.recorded != nullptr) {
    view.recorded = options.recorded;
    out->value_names = options.recorded->held.names;
    view.phases = PhaseTexts(options.recorded->phases);
  }
  view.source = out->source.get();
  // A recorded program has only the version that ran.
  if (options.sources) view.choices = choices_of(*out->source, out->function);
  HOSTIR_ASSIGN_OR_RETURN(out->view, make_program_view(program, std::move(view)));
  out->code = out->view->code;
  out->program = out->code->program;
  return std::shared_ptr<const Prepared>(std::move(out));
}

}  // namespace hostir::interp
