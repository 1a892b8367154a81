#include "hostir/api/serve/text_program.h"

#include <nlohmann/json.hpp>

#include "hostir/api/open/program_file.h"
#include "hostir/api/serve/open_options.h"
#include "hostir/passes/lower.h"
#include "hostir/support/json_text.h"
#include "hostir/text/print/printer.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

namespace {

using nlohmann::ordered_json;

Expected<LoadedFile> load(const OpenOptions& options) {
  if (options.request.text.empty()) return load_file(options.request.path);
  return load_text(options.request.path, options.request.text);
}

ordered_json explanation_json(const Explanation& records) {
  ordered_json out = ordered_json::array();
  for (const ExplainRecord& record : records) {
    ordered_json lost = ordered_json::array();
    for (const Alternative& a : record.lost) {
      lost.push_back({{"what", a.what},
                      {"cost_ns", a.cost_ns},
                      {"bytes", a.bytes},
                      {"cost", a.cost},
                      {"why", a.why}});
    }
    out.push_back({{"value", record.value},
                   {"what", record.what},
                   {"sentence", record.sentence},
                   {"from", record.from},
                   {"pass", record.pass},
                   {"lost", std::move(lost)}});
  }
  return out;
}

Expected<ordered_json> lowered_json(OpenOptions& options, LoadedFile& file) {
  ProgramOptions& wanted = options.session.program;
  HOSTIR_TRY(wanted.differentiate(file));
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, wanted.function));
  HOSTIR_ASSIGN_OR_RETURN(const interp::PrepareOptions prepare, wanted.prepare_options());
  HOSTIR_TRY(check_sizes(*chosen.program->find_function(chosen.name), prepare.sizes));
  HOSTIR_ASSIGN_OR_RETURN(const Program program,
                          interp::resized_program(*chosen.program, chosen.name, prepare));
  text::PrintOptions print;
  print.derived = text::DerivedComments::kAll;
  ordered_json out = {{"function", chosen.name},
                      {"phases", ordered_json::array()},
                      {"text", ""},
                      {"explanation", ordered_json::array()}};
  if (program.find_function(chosen.name)->kind != FunctionKind::kFusion) {
    out["text"] = text::print(program, print);
    return out;
  }
  HOSTIR_ASSIGN_OR_RETURN(const interp::BackendRequest backend,
                          options.session.backend.request(program));
  LowerOptions lowering;
  for (const auto& [name, size] : prepare.sizes) lowering.sizes->bind(name, size);
  lowering.keep = prepare.keep;
  lowering.overlap = prepare.overlap;
  lowering.machine = &backend.machine;
  lowering.alternatives = Alternatives::kExplained;
  lowering.dump = [&](LowerPhase phase, const Program& after) {
    out["phases"].push_back({{"name", name(phase)}, {"text", text::print(after, print)}});
  };
  HOSTIR_ASSIGN_OR_RETURN(const Lowered lowered, lower(program, chosen.name, lowering));
  out["function"] = lowered.function;
  out["text"] = text::print(lowered.program, print);
  out["explanation"] = explanation_json(lowered.explanation);
  return out;
}

Expected<ordered_json> imported_json(const std::string& path, const LoadedFile& file) {
  if (!file.parsed) {
    return tl::unexpected(Error{ErrorKind::kInvalid, file.diagnostics});
  }
  if (!file.imported) {
    return fail(ErrorKind::kUsage, "usage",
                path + " is neither StableHLO nor HLO; our own text needs no import");
  }
  return ordered_json{{"text", file.sources.text(0)}, {"notes", file.import_notes}};
}

// Loads the program that the options name; `convert` returns the answer.
template <class Convert>
Answered<std::string> of_program(const std::string& path, std::string_view options,
                                 Convert convert) {
  auto parsed = parse_open_options(options);
  if (!parsed) return failed(parsed.error(), SourceManager());
  parsed->request.path = path;
  auto file = load(*parsed);
  if (!file) return failed(file.error(), SourceManager());
  const Expected<ordered_json> made = convert(*parsed, *file);
  if (!made) return failed(made.error(), file->sources);
  return json_text(*made);
}

}  // namespace

Answered<std::string> lower_text(const std::string& path, std::string_view options) {
  return of_program(path, options, lowered_json);
}

Answered<std::string> import_text(const std::string& path, std::string_view options) {
  return of_program(path, options, [&](const OpenOptions&, const LoadedFile& file) {
    return imported_json(path, file);
  });
}

}  // namespace hostir::api
