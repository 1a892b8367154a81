#include "hostir/api/open/program_file.h"

#include <algorithm>

#include "hostir/import/import.h"
#include "hostir/io/files.h"
#include "hostir/support/number_from.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::api {

namespace {

// Instructions keep the line of the operation that they come from as a comment, so that `list`, the
// caret of an error and `hostir import` show it.
void note_lines(Program& program, const SourceManager& sources) {
  for (Function& function : program.functions) {
    for (Instruction& instruction : function.instructions) {
      if (!instruction.span.valid() || !instruction.comments.trailing.empty()) continue;
      const uint32_t line = sources.locate(instruction.span.file, instruction.span.begin).line;
      instruction.comments.trailing = "source line " + std::to_string(line);
    }
  }
}

// Instructions are where the module has their operations: breakpoints, frames and errors name its
// lines. Those that the import adds (streams, communicators) are in no file.
void place_instructions(const Program& imported, Program& parsed, uint32_t file) {
  for (Function& function : parsed.functions) {
    const Function* from = imported.find_function(function.name);
    if (from == nullptr) continue;
    const std::vector<InstrId> here = function.preorder();
    const std::vector<InstrId> there = from->preorder();
    for (size_t i = 0; i < here.size() && here.size() == there.size(); ++i) {
      SourceSpan span = from->instr(there[i]).span;
      if (span.valid()) {
        span.file = file;
      } else if (function.kind != FunctionKind::kHost) {
        continue;
      }
      Instruction& instruction = function.instr(here[i]);
      instruction.span = span;
      for (Operand& operand : instruction.operands) operand.span = span;
    }
  }
}

LoadedFile load_foreign(const std::string& name, std::string text,
                        const importer::ImportOptions& options) {
  LoadedFile out;
  const uint32_t id = out.sources.add(name, std::move(text));
  auto imported = importer::import_text(out.sources, id, options);
  if (!imported) {
    out.diagnostics = std::move(imported.error().diagnostics);
    return out;
  }
  std::string notes = importer::describe(imported->report, out.sources);
  note_lines(imported->program, out.sources);
  std::string given(out.sources.text(id));
  SourceFileProgram file;
  file.parts.push_back(std::move(imported->program));
  out = load_text(name + " (as hostir import prints it)", text::print(file));
  const uint32_t place = out.sources.add(name, std::move(given));
  if (out.file.parts.size() == 1) place_instructions(file.parts[0], out.file.parts[0], place);
  out.imported = true;
  out.import_notes = std::move(notes);
  out.unfinished = imported->report.unfinished;
  out.complex_params = std::move(imported->report.complex.params);
  out.complex_results = std::move(imported->report.complex.results);
  return out;
}

}  // namespace

LoadedFile load_text(const std::string& name, std::string text,
                     const importer::ImportOptions& options) {
  if (importer::language_of(text) != importer::SourceLanguage::kHir) {
    return load_foreign(name, std::move(text), options);
  }
  LoadedFile out;
  const uint32_t id = out.sources.add(name, std::move(text));
  text::ParsedFile parsed = text::parse(out.sources, id);
  out.parsed = parsed.ok();
  out.file = std::move(parsed.file);
  out.diagnostics = std::move(parsed.diagnostics);
  return out;
}

Expected<LoadedFile> load_file(const std::string& path, const importer::ImportOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(std::string text, io::read_text(path));
  return load_text(path == "-" ? "<stdin>" : path, std::move(text), options);
}

Expected<ChosenFunction> choose_function(const LoadedFile& file, const std::string& function) {
  std::vector<Diagnostic> errors;
  for (const Diagnostic& d : file.diagnostics) {
    if (d.severity == Severity::kError) errors.push_back(d);
  }
  if (!errors.empty()) return tl::unexpected(Error{ErrorKind::kInvalid, std::move(errors)});
  const std::string wanted = function.starts_with('@') ? function.substr(1) : function;
  for (const Program& part : file.file.parts) {
    const Function* f = wanted.empty() ? part.main_function() : part.find_function(wanted);
    if (f) return ChosenFunction{&part, f->name};
  }
  std::string names;
  for (const Program& part : file.file.parts) {
    for (const Function& f : part.functions) names += (names.empty() ? "@" : ", @") + f.name;
  }
  return fail(ErrorKind::kUsage, "no_function",
              (wanted.empty() ? std::string("the file has no fusion and no host function")
                              : "the file has no function @" + wanted) +
                  (names.empty() ? "" : "; it has " + names));
}

Expected<std::vector<std::pair<std::string, int64_t>>> parse_sizes(
    const std::vector<std::string>& items, const std::string& option) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const std::string& item : items) {
    size_t begin = 0;
    while (begin <= item.size()) {
      const size_t end = std::min(item.find(',', begin), item.size());
      const std::string pair = item.substr(begin, end - begin);
      const size_t equals = pair.find('=');
      const bool is_named = equals != std::string::npos && equals > 0;
      const int64_t n =
          is_named ? number_from<int64_t>(pair.substr(equals + 1)).value_or(-1) : int64_t{-1};
      if (n < 0) {
        return fail(ErrorKind::kUsage, "usage",
                    option + " takes NAME=NUMBER, as in " + option +
                        (option == "--size" ? " B=8" : " tp=4") + ", not \"" + pair + "\"");
      }
      out.emplace_back(pair.substr(0, equals), n);
      begin = end + 1;
    }
  }
  return out;
}

}  // namespace hostir::api
