#include "hostir/import/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/build_fusion.h"
#include "hostir/import/device/build_manual.h"
#include "hostir/import/hlo/build_hlo.h"
#include "hostir/import/hlo/hlo_module.h"
#include "hostir/import/hlo/library_calls.h"
#include "hostir/import/mlir/mlir.h"
#include "hostir/import/rewrite/batch_norm.h"
#include "hostir/import/rewrite/complex_pairs.h"
#include "hostir/import/rewrite/gspmd.h"
#include "hostir/import/rewrite/inline_calls.h"
#include "hostir/import/rewrite/ragged_exchange.h"
#include "hostir/import/rewrite/replicas.h"

namespace hostir::importer {

namespace {

const ModuleFunction& entry_of(const Module& module) {
  for (const ModuleFunction& f : module.functions) {
    if (f.is_public) return f;
  }
  if (const ModuleFunction* main = module.find("main")) return *main;
  return module.functions.front();  // read_mlir() rejects a module without functions
}

// Names the tool that wrote a program in Python, by words near the beginning of the text; empty for
// other texts.
std::string_view tracer_of(std::string_view text) {
  constexpr size_t kHead = 4096;
  const std::string_view head = text.substr(0, kHead);
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (has("FusionDefinition") && has("define_tensor(")) return "nvFuser";
  if (has("import thunder") || has("from thunder.")) return "Thunder";
  return {};
}

// The shapes of results after complex ones became pairs. `shapes` has the module's results; a
// complex one has a last dimension for the parts.
ResultShapes shapes_of_parts(const ResultShapes& shapes, const std::vector<size_t>& pairs) {
  if (!shapes || pairs.empty()) return shapes;
  return [shapes, pairs](size_t place) {
    size_t number = place;
    bool is_part = false;
    for (const size_t pair : pairs) {
      if (pair < place) --number;
      is_part = is_part || pair == place || pair + 1 == place;
    }
    auto shape = shapes(number);
    if (shape && is_part && !shape->empty()) shape->pop_back();
    return shape;
  };
}

// A program of kernels, with loops that end when their conditions fail. Only for one device, where
// no value has to be cut.
Expected<Imported> import_for_one_device(const Module& module) {
  HloModule whole;
  whole.module = module;
  auto& functions = whole.module.functions;
  const std::string name = entry_of(module).name;
  const auto entry = std::find_if(functions.begin(), functions.end(),
                                  [&](const ModuleFunction& f) { return f.name == name; });
  std::rotate(functions.begin(), entry, entry + 1);
  inline_loops(whole.module);
  whole.entry.shardings.resize(functions.front().params.size());
  Imported out;
  HOSTIR_TRY(build_hlo(whole, {}, out.program, out.report));
  return out;
}

// Sets the integers that may bound a loop. `pairs`: the places of complex parameters, which are two
// here and one in the module's text. False if no value is known.
bool set_arguments(Module& module, const std::vector<size_t>& pairs, const ArgumentValues& values) {
  if (!values) return false;
  const ModuleFunction& entry = entry_of(module);
  for (size_t p = 0; p < entry.params.size(); ++p) {
    const ModuleType& type = entry.params[p].type;
    if (!type.is_tensor() || !type.dims.empty() || !type.dtype() || is_float(*type.dtype()))
      continue;
    const auto before =
        std::count_if(pairs.begin(), pairs.end(), [&](size_t at) { return at < p; });
    const auto given =
        values(p - static_cast<size_t>(before), entry.values[entry.body.arguments[p]].name);
    if (given) module.known_arguments.emplace(p, *given);
  }
  return !module.known_arguments.empty();
}

void note_arguments(const Module& module, ImportReport& report) {
  const ModuleFunction& entry = entry_of(module);
  std::string list;
  for (const auto& [p, value] : module.known_arguments) {
    list += fmt::format("{}%{} = {}", list.empty() ? "" : ", ",
                        entry.values[entry.body.arguments[p]].name, value);
  }
  report.notes.push_back(
      {Severity::kNote,
       "import_loop",
       "the end of a loop depends on arguments: the program is for " + list + " only",
       entry.span,
       {}});
}

}  // namespace

SourceLanguage language_of(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return SourceLanguage::kHir;
  if (text.substr(begin).starts_with("HloModule")) return SourceLanguage::kHlo;
  const bool foreign = looks_like_mlir(text) || !tracer_of(text).empty();
  return foreign ? SourceLanguage::kMlir : SourceLanguage::kHir;
}

Expected<Imported> import_module(const Module& module) {
  const ModuleFunction& entry = entry_of(module);
  Imported out;
  add_meshes(module, out.program);
  const auto build = is_manual(module, entry) ? build_manual : build_fusion;
  HOSTIR_TRY(build(module, entry, out.program, out.report));
  return out;
}

Expected<Imported> import_text(const SourceManager& sources, uint32_t file,
                               const ImportOptions& options) {
  if (language_of(sources.text(file)) == SourceLanguage::kHlo) {
    HOSTIR_ASSIGN_OR_RETURN(HloText text, read_hlo_text(sources, file));
    write_out_library_calls(text);
    HOSTIR_ASSIGN_OR_RETURN(HloModule hlo, convert_hlo(text));
    Imported out;
    std::vector<std::string> shardings;
    for (size_t p = 0; p < hlo.entry.shardings.size(); ++p) {
      const bool pair = is_complex(hlo.module.functions.front().params[p].type);
      shardings.insert(shardings.end(), pair ? 2 : 1, hlo.entry.shardings[p]);
    }
    hlo.entry.shardings = std::move(shardings);
    write_out_ragged_exchanges(hlo.module);
    split_complex(hlo.module, hlo.module.functions.front().name, out.report);
    HOSTIR_TRY(build_hlo(hlo, shapes_of_parts(options.shapes, out.report.complex.results),
                         out.program, out.report));
    return out;
  }
  if (const std::string_view tracer = tracer_of(sources.text(file)); !tracer.empty()) {
    return fail_at(ErrorKind::kInvalid, "import_c8",
                   fmt::format("this is a trace that {} printed as Python, which cannot be read; "
                               "capture the model with hostir_capture.py (hostir/python) instead",
                               tracer),
                   {file, 0, 0});
  }
  HOSTIR_ASSIGN_OR_RETURN(Module module, read_mlir(sources, file));
  module.loop_passes = options.loop_passes;
  HOSTIR_TRY(write_out_replicas(module, entry_of(module).name));
  HOSTIR_TRY(name_tile_shardings(module));
  write_out_batch_norms(module);
  write_out_ragged_exchanges(module);
  ImportReport report;
  split_complex(module, entry_of(module).name, report);
  auto out = import_module(module);
  if (!out) return out;
  if (!out->report.unfinished.empty() && module.partitions == 1 && module.meshes.empty()) {
    if (auto host = import_for_one_device(module)) out = std::move(host);
  }
  if (!out->report.unfinished.empty() && !options.loop_passes &&
      set_arguments(module, report.complex.params, options.arguments)) {
    out = import_module(module);
    if (!out) return out;
    note_arguments(module, out->report);
  }
  out->report.complex = std::move(report.complex);
  out->report.notes.insert(out->report.notes.begin(), report.notes.begin(), report.notes.end());
  return out;
}

std::string describe(const ImportReport& report, const SourceManager& sources) {
  std::string out;
  for (const auto& [what, count] : report.opaque) {
    out += fmt::format(
        "{} x {}: no counterpart, kept as opaque; it can be inspected and timed, but not run\n",
        count, what);
  }
  for (const Diagnostic& note : report.notes) {
    if (note.span.valid())
      out += fmt::format("line {}: ", sources.locate(note.span.file, note.span.begin).line);
    out += note.message + "\n";
  }
  return out;
}

}  // namespace hostir::importer
