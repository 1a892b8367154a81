#include "traces/recorded/log_program.h"

#include <algorithm>

#include "hostir/text/parse/parser.h"
#include "interp/diagnose/calls/user_frame.h"
#include "interp/diagnose/text/sentences.h"

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
  options.recorded = &log.tables().recorded;
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

/// By instruction: `all_reduce f32[64,64] on default_pg`, as the first rank on record calls it.
std::vector<std::string> texts_of_calls(const model::Run& run) {
  std::vector<std::string> out(run.instructions.size());
  const auto note = [&](const model::Member& member, model::CommunicatorId communicator) {
    if (!member.arrived() || member.instruction.index >= out.size()) return;
    std::string& text = out[member.instruction.index];
    if (!text.empty()) return;
    text = model::call_text(member.call);
    text += " on " + diagnose::communicator_name(run, communicator);
  };
  for (const model::Meeting& meeting : run.meetings) {
    for (const model::Member& member : meeting.members) note(member, meeting.communicator);
  }
  for (const model::SendRecv& pair : run.pairs) {
    note(pair.send, pair.communicator);
    note(pair.recv, pair.communicator);
  }
  return out;
}

/// Lists the logged instructions, one per line; returns the text.
std::string list_instructions(const LogReader& log, const model::Run& run,
                              interp::ProgramView& view) {
  const bool of_calls = !log.instructions().empty() &&
                        std::ranges::all_of(log.instructions(), [](const LogInstruction& i) {
                          return i.address.empty();
                        });
  std::string text = of_calls ? "// The calls on record, each with its callers below it.\n\n"
                              : "// The instructions as they were logged:\n"
                                "// the program text is missing or no longer gives them.\n\n";
  auto line = static_cast<uint32_t>(std::ranges::count(text, '\n') + 1);
  const std::vector<std::string> calls = texts_of_calls(run);
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
    // Another tool's calls have no text, but a stack.
    const bool is_call = logged.address.empty() && i < calls.size();
    if (is_call && !calls[i].empty()) shown = calls[i];
    for (char& c : shown) {
      if (c == '\n') c = ' ';
    }
    text += "  " + shown + "\n";
    view.lines.push_back(line++);
    view.instructions.push_back(logged);
    if (!is_call) continue;
    for (const std::string& frame : diagnose::stack_lines(run.instructions[i])) {
      text += "    // " + frame + "\n";
      ++line;
    }
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
