#include "traces/reader/log_program.h"

#include "hostir/text/parser.h"
#include "interp/diagnose/user_frame.h"

namespace hostir::traces {

namespace {

using interp::LogInstruction;

/// The program text, parsed again; null if its instructions differ from those of the log.
std::shared_ptr<const interp::ProgramView> as_written(const LogReader& log) {
  if (log.tables().program.empty()) return nullptr;
  const auto program = text::parse_program(log.tables().program);
  if (!program) return nullptr;
  interp::ProgramViewOptions options;
  options.entry = log.run().entry;
  for (const auto& [name, size] : log.run().sizes) options.sizes.bind(name, size);
  options.phases = interp::PhaseTexts(log.phases());
  const auto view = interp::make_program_view(*program, std::move(options));
  if (!view || (*view)->code->rank_count != log.run().rank_count) return nullptr;
  const interp::Code& code = *(*view)->code;
  const std::vector<LogInstruction>& logged = log.instructions();
  if (code.instructions.size() != logged.size()) return nullptr;
  for (size_t i = 0; i < logged.size(); ++i) {
    if (code.address(static_cast<interp::CodeIndex>(i)) != logged[i].address) return nullptr;
  }
  return *view;
}

/// The mesh of all ranks from the text, else one axis of all ranks.
Mesh mesh_of(const LogReader& log) {
  const auto program = text::parse_program(log.tables().program);
  const Mesh* mesh = program ? program->find_mesh(log.tables().mesh) : nullptr;
  if (mesh && mesh->size() == log.run().rank_count) return *mesh;
  Mesh made;
  made.name = log.tables().mesh.empty() ? "ranks" : log.tables().mesh;
  made.axes = {{"rank", log.run().rank_count}};
  return made;
}

/// Lists the logged instructions, one per line; returns the text.
std::string list_instructions(const LogReader& log, const model::Run& run,
                              interp::ProgramView& view) {
  std::string text =
      "// The instructions as they were logged: the program text is missing or no longer gives "
      "them.\n\n";
  uint32_t line = 3;
  std::string function;
  for (size_t i = 0; i < log.instructions().size(); ++i) {
    const LogInstruction& logged = log.instructions()[i];
    const std::string name = logged.address.substr(0, logged.address.rfind('#'));
    if (name != function) {
      text += "// " + name + "\n";
      ++line;
      function = name;
    }
    std::string shown = logged.text.empty() ? logged.mnemonic : logged.text;
    for (char& c : shown) {
      if (c == '\n') c = ' ';
    }
    // Another tool's calls have no text, but a stack.
    const std::string stack = diagnose::stack_text(run.instructions[i]);
    if (logged.address.empty() && !stack.empty()) shown += "  // " + stack;
    text += "  " + shown + "\n";
    view.lines.push_back(line++);
    view.instructions.push_back(logged);
  }
  if (log.instructions().empty()) text += "// The log contains no instructions.\n";
  return text;
}

}  // namespace

std::shared_ptr<const interp::ProgramView> program_of(const LogReader& log, const model::Run& run) {
  if (auto view = as_written(log)) return view;
  auto view = std::make_shared<interp::ProgramView>();
  auto sources = std::make_shared<SourceManager>();
  view->entry = log.run().entry;
  view->rank_count = static_cast<interp::Rank>(log.run().rank_count);
  view->world = mesh_of(log);
  const std::string name = log.run().entry.empty() ? "log" : log.run().entry;
  view->file = sources->add(name + ".hir", list_instructions(log, run, *view));
  view->sources = std::move(sources);
  view->phases = interp::PhaseTexts(log.phases());
  return view;
}

}  // namespace hostir::traces
