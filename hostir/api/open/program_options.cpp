#include "hostir/api/open/program_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "hostir/api/open/backends.h"
#include "hostir/api/open/example_inputs.h"
#include "hostir/api/open/process_place.h"
#include "hostir/io/complex_parts.h"
#include "hostir/io/generate.h"
#include "hostir/io/npy.h"
#include "hostir/io/tensor_file.h"
#include "hostir/ops/differentiate.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/support/lists.h"
#include "hostir/support/number_from.h"
#include "interp/session/prepare/input_values.h"
#include "kernels/cpu/kernel.h"

namespace hostir::api {

Expected<std::pair<std::string, std::string>> split_binding(const std::string& text,
                                                            const std::string& option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorKind::kUsage, "usage",
                option + " takes NAME=VALUE, as in " + option + " x=@x.npy, not \"" + text + "\"");
  }
  std::string name = text.substr(0, equals);
  if (name.starts_with('%')) name.erase(0, 1);
  return std::pair(std::move(name), text.substr(equals + 1));
}

Expected<ValueSpec> parse_bound_value(const std::pair<std::string, std::string>& binding,
                                      const std::string& option) {
  const auto& [name, text] = binding;
  auto spec = io::parse_value_spec(text);
  if (spec && spec->kind != ValueSpec::Kind::kName) return spec;
  auto error = fail(ErrorKind::kUsage, "usage",
                    option + " " + name + "=" + text + ": " +
                        (spec ? "expected a value, not a name" : spec.error().message()));
  error.value().diagnostics.front().notes.push_back({"a value is " + name + "=@file.npy, " + name +
                                                         "='4xf32=[1 2 3 4]' or " + name +
                                                         "='normal(1, 4x8xf32)'",
                                                     {}});
  return error;
}

Expected<void> check_sizes(const Function& function,
                           const std::vector<std::pair<std::string, int64_t>>& sizes) {
  const std::vector<std::string> known = unbound_sizes(function);
  for (const auto& [name, size] : sizes) {
    if (contains(known, name)) continue;
    std::string names;
    for (const std::string& k : known) names += (names.empty() ? "?" : ", ?") + k;
    return fail(ErrorKind::kUsage, "usage",
                "--size " + name + "=" + std::to_string(size) + ": @" + function.name +
                    " has no size ?" + name + "; it has " + (names.empty() ? "none" : names));
  }
  return {};
}

namespace {

// Adds notes on files whose NumPy dtype differs from the dtype named in messages: NumPy has more
// dtypes.
void note_readings(const std::vector<std::string>& inputs, Error& error) {
  for (const std::string& text : inputs) {
    const size_t at = text.find("=@");
    if (at == std::string::npos || !text.ends_with(".npy")) continue;
    const size_t begin = text.starts_with('%') ? 1 : 0;
    const std::string name = "input %" + text.substr(begin, at - begin) + " ";
    if (error.message().find(name) == std::string::npos) continue;
    const std::string reading = io::npy_reading(text.substr(at + 2));
    if (!reading.empty()) error.diagnostics.front().notes.push_back({reading, {}});
  }
}

}  // namespace

Expected<interp::PrepareOptions> ProgramOptions::prepare_options() const {
  interp::PrepareOptions options;
  options.function = function.starts_with('@') ? function.substr(1) : function;
  HOSTIR_ASSIGN_OR_RETURN(options.mesh_sizes, parse_sizes(mesh, "--mesh"));
  HOSTIR_ASSIGN_OR_RETURN(options.sizes, parse_sizes(sizes, "--size"));
  options.ranks = ranks;
  options.keep = keep;
  const auto way = overlap_named(overlap);
  if (!way) {
    return fail(ErrorKind::kUsage, "usage",
                "overlap is none, collectives, ring or auto, not \"" + overlap + "\"");
  }
  options.overlap = *way;
  options.alternatives = alternatives;
  return options;
}

Expected<void> ProgramOptions::differentiate(LoadedFile& file) {
  if (!grad) return {};
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, function));
  for (Program& part : file.file.parts) {
    if (&part != chosen.program) continue;
    const Function& fusion = *part.find_function(chosen.name);
    if (fusion.kind != FunctionKind::kFusion) {
      return fail(ErrorKind::kUsage, "usage",
                  "--grad takes a fusion; @" + chosen.name + " is a host function");
    }
    const std::string name = chosen.name + ".grad";
    std::vector<std::string> names;
    for (const std::string& w : wrt) names.push_back(w.starts_with('%') ? w.substr(1) : w);
    HOSTIR_ASSIGN_OR_RETURN(Function derived, hostir::differentiate(part, fusion, name, names));
    if (part.find_function(name) != nullptr) {
      return fail(ErrorKind::kUsage, "usage", "the file has a function @" + name + " already");
    }
    part.add_function(std::move(derived));
    function = name;
    return {};
  }
  return {};
}

Expected<std::vector<interp::NamedInput>> ProgramOptions::named_inputs() const {
  std::vector<interp::NamedInput> out = tensors;
  std::vector<interp::NamedInput> archived;  // members of archives; named inputs replace them
  for (const std::string& text : inputs) {
    if (text.starts_with('@') && io::holds_named_tensors(text)) {
      HOSTIR_ASSIGN_OR_RETURN(io::NamedTensors members, io::read_named_tensors(text.substr(1)));
      for (auto& [name, tensor] : members) archived.push_back({std::move(name), std::move(tensor)});
      continue;
    }
    HOSTIR_ASSIGN_OR_RETURN(auto binding, split_binding(text, "--input"));
    HOSTIR_ASSIGN_OR_RETURN(ValueSpec spec, parse_bound_value(binding, "--input"));
    if (spec.kind != ValueSpec::Kind::kInline && spec.kind != ValueSpec::Kind::kFile) {
      out.push_back({std::move(binding.first), std::move(spec)});
      continue;
    }
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, io::materialise(spec, "", nullptr, nullptr));
    out.push_back({std::move(binding.first), std::move(tensor)});
  }
  const auto named = [&, count = out.size()](const std::string& name) {
    return std::any_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const interp::NamedInput& input) { return input.name == name; });
  };
  for (interp::NamedInput& member : archived) {
    if (!named(member.name)) out.push_back(std::move(member));
  }
  return out;
}

importer::ArgumentValues ProgramOptions::argument_values() const {
  auto known = std::make_shared<std::optional<std::vector<interp::NamedInput>>>();
  return [this, known](size_t index, const std::string& name) -> std::optional<int64_t> {
    if (!*known) {
      auto read = named_inputs();  // errors are reported when the run is prepared
      *known = read ? std::move(*read) : std::vector<interp::NamedInput>();
    }
    for (const interp::NamedInput& input : **known) {
      const auto* tensor = std::get_if<Tensor>(&input.value);
      const bool meant = input.name == name || position_of(input.name) == index;
      if (meant && tensor != nullptr && tensor->element_count() == 1 && !is_float(tensor->dtype))
        return tensor->get_int(0);
    }
    return std::nullopt;
  };
}

namespace {

bool has_parameter(const Function& function, const std::string& name) {
  return std::any_of(function.params.begin(), function.params.end(),
                     [&](const Parameter& p) { return function.value(p.value).name == name; });
}

// `--input 0=@x.npy` means the first parameter, unless a parameter is named 0. In an imported
// program, positions are the module's: a complex parameter, at a place in `pairs`, counts once and
// is named without `_re`.
void name_positions(const Function& function, const std::vector<size_t>& pairs,
                    std::vector<interp::NamedInput>& inputs) {
  for (interp::NamedInput& input : inputs) {
    const auto position = position_of(input.name);
    if (!position || has_parameter(function, input.name)) continue;
    const size_t place = io::place_of_module(*position, pairs);
    if (place >= function.params.size()) continue;
    input.name = function.value(function.params[place].value).name;
    if (contains(pairs, place) && input.name.ends_with("_re"))
      input.name.resize(input.name.size() - 3);
  }
}

// An input %x for a pair of parameters %x_re and %x_im becomes an input for each.
Expected<void> split_pairs(const Function& function, std::vector<interp::NamedInput>& inputs) {
  std::vector<interp::NamedInput> out;
  for (interp::NamedInput& input : inputs) {
    if (has_parameter(function, input.name) || !has_parameter(function, input.name + "_re") ||
        !has_parameter(function, input.name + "_im")) {
      out.push_back(std::move(input));
      continue;
    }
    interp::NamedInput re{input.name + "_re", input.value};
    interp::NamedInput im{input.name + "_im", input.value};
    if (const auto* tensor = std::get_if<Tensor>(&input.value)) {
      HOSTIR_ASSIGN_OR_RETURN(io::ComplexParts parts, io::complex_parts(*tensor, input.name));
      re.value = std::move(parts.re);
      im.value = std::move(parts.im);
    }
    out.push_back(std::move(re));
    out.push_back(std::move(im));
  }
  inputs = std::move(out);
  return {};
}

// The input as a tensor without data; unchanged if its shape is not known, which prepare() reports.
void drop_data(const Function& function, const SizeBindings& sizes, interp::NamedInput& input) {
  for (const Parameter& parameter : function.params) {
    const Value& value = function.value(parameter.value);
    const bool is_tensor = std::holds_alternative<TensorType>(value.type) ||
                           std::holds_alternative<ShardType>(value.type);
    if (value.name != input.name || !is_tensor) continue;
    Tensor shape{dtype_of(value.type), {}, {}};
    if (auto* tensor = std::get_if<Tensor>(&input.value)) {
      if (is_float(tensor->dtype) != is_float(shape.dtype)) shape.dtype = tensor->dtype;
      shape.extents = std::move(tensor->extents);
    } else {
      for (const IndexExpr& extent : shape_of(value.type)) {
        const auto size = extent.evaluate(sizes.lookup());
        if (!size) return;
        shape.extents.push_back(*size);
      }
    }
    input.value = std::move(shape);
  }
}

}  // namespace

Expected<std::shared_ptr<const interp::Prepared>> prepare_shapes(
    const Program& program, std::vector<interp::NamedInput> inputs,
    const interp::PrepareOptions& options) {
  const Function& function = *program.find_function(options.function);
  HOSTIR_ASSIGN_OR_RETURN(const SizeBindings sizes,
                          interp::sizes_from_inputs(function, inputs, options.sizes));
  std::vector<std::pair<std::string, std::string>> generators;
  for (interp::NamedInput& input : inputs) {
    if (const auto* spec = std::get_if<ValueSpec>(&input.value))
      generators.emplace_back(input.name, io::format_value_spec(*spec));
    drop_data(function, sizes, input);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, interp::prepare(program, inputs, options));
  auto out = std::make_shared<interp::Prepared>(*prepared);
  out->input_texts = std::move(generators);
  return out;
}

std::optional<size_t> position_of(const std::string& name) { return number_from<size_t>(name); }

Expected<RunArguments> ProgramOptions::arguments(const LoadedFile& file,
                                                 std::string* notice) const {
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, function));
  RunArguments out;
  out.program = chosen.program;
  HOSTIR_ASSIGN_OR_RETURN(out.options, prepare_options());
  if (out.options.overlap != Overlap::kNone && !machine.empty()) {
    const std::string wanted = machine.starts_with('@') ? machine.substr(1) : machine;
    const Machine* found = chosen.program->find_machine(wanted);
    if (found == nullptr) found = find_builtin_machine(wanted);
    if (found != nullptr) out.options.overlap_machine = *found;  // else the backend reports it
  }
  out.options.function = chosen.name;
  out.options.sources = &file.sources;
  HOSTIR_TRY(check_sizes(*chosen.program->find_function(chosen.name), out.options.sizes));
  HOSTIR_ASSIGN_OR_RETURN(out.inputs, named_inputs());
  const Function& chosen_function = *chosen.program->find_function(chosen.name);
  name_positions(chosen_function, file.complex_params, out.inputs);
  HOSTIR_TRY(split_pairs(chosen_function, out.inputs));
  if (!notice) return out;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  HOSTIR_ASSIGN_OR_RETURN(*notice, add_example_inputs(*chosen.program, chosen.name, directory,
                                                      out.inputs, out.options.sizes));
  out.options.base_directory = directory;
  return out;
}

Expected<std::shared_ptr<const interp::Prepared>> ProgramOptions::prepare(
    const LoadedFile& file, std::string* notice, const interp::PrepareProgress& watch) const {
  HOSTIR_ASSIGN_OR_RETURN(RunArguments found, arguments(file, notice));
  found.options.watch = watch;
  if (input_data == InputData::kShapes)
    return prepare_shapes(*found.program, found.inputs, found.options);
  auto prepared = interp::prepare(*found.program, found.inputs, found.options);
  if (!prepared) note_readings(inputs, prepared.error());
  return prepared;
}

namespace {

Expected<std::vector<int>> parse_devices(const std::string& text) {
  std::vector<int> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool digits = !word.empty() && word.size() < 5 &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      return fail(ErrorKind::kUsage, "usage", "--devices takes numbers, as in 0,1, not " + text);
    }
    out.push_back(std::stoi(word));
    at = end + 1;
  }
  return out;
}

// The host time per instruction. A framework that dispatches op by op takes about 6 us per op, and
// a captured graph starts its next node after about 0.3 us (H200, PyTorch 2.11).
double host_cost_ns(const std::string& mode, double prepared_ns) {
  if (mode == "eager") return std::max(6000.0, prepared_ns);
  return mode == "graph" ? std::min(300.0, prepared_ns) : prepared_ns;
}

}  // namespace

InputData BackendOptions::input_data() const {
  const BackendEntry* entry = find_backend(backend);
  return entry == nullptr || entry->traits.reads_values ? InputData::kValues : InputData::kShapes;
}

Expected<interp::BackendRequest> BackendOptions::request(const Program& program) const {
  interp::BackendRequest out;
  name_backend(out, backend);
  const std::string wanted = machine.starts_with('@') ? machine.substr(1) : machine;
  const Machine* found = nullptr;
  if (wanted.empty()) {
    found = program.machines.empty() ? find_builtin_machine("h200x8") : &program.machines.front();
  } else {
    found = program.find_machine(wanted);
    if (!found) found = find_builtin_machine(wanted);
  }
  if (!found) {
    return fail(ErrorKind::kUsage, "usage",
                "no machine is called \"" + wanted + "\"; see `hostir machines`");
  }
  out.machine = *found;
  out.machine.issue_ns = host_cost_ns(host_cost, out.machine.issue_ns);
  if (p2p_buffer) out.machine.p2p_buffer_bytes = static_cast<double>(*p2p_buffer);
  out.seed = static_cast<uint64_t>(seed);
  out.reference_kernels = kernels == "reference";
  out.max_memory_bytes = max_memory_mib << 20;
  HOSTIR_ASSIGN_OR_RETURN(out.devices, parse_devices(devices));
  out.place = place;
  out.transport = transport;
  if (timeout_s) out.timeout_ns = static_cast<int64_t>(*timeout_s * 1e9);
  out.stepwise = stepwise;
  out.graphs = graphs;
  HOSTIR_ASSIGN_OR_RETURN(out.process, process_place(environment_variable));
  // Under another launcher the user may want a whole run in each process.
  const BackendEntry* entry = find_backend(backend);
  if (out.process.launcher_listens && entry != nullptr && !entry->several_processes) {
    return fail(ErrorKind::kUsage, "launcher",
                fmt::format("the backend {} runs all ranks in one process, so each of the {} that "
                            "`hostir launch` started would repeat the whole run: leave out "
                            "`launch -n {}`, or use --backend cuda",
                            backend, out.process.count, out.process.count));
  }
  if (threads > 0) cpu::set_thread_count(static_cast<int>(threads));
  return out;
}

}  // namespace hostir::api
