#include "traces/log_program.h"

#include <fmt/core.h>

#include <charconv>
#include <map>

#include "hostir/ops/record.h"
#include "hostir/text/parser.h"

namespace hostir::traces {

namespace {

using interp::CodeInstruction;
using interp::LogInstruction;

interp::PhaseTexts phases_of(const LogReader& log) {
  std::vector<interp::PhaseText> out;
  for (const interp::LogPhase& phase : log.phases()) out.push_back({phase.name, phase.text});
  return interp::PhaseTexts(std::move(out));
}

/// The program text, parsed again; null if its instructions differ from those of the log.
std::shared_ptr<const interp::ProgramView> as_written(const LogReader& log) {
  if (log.tables().program.empty()) return nullptr;
  const auto program = text::parse_program(log.tables().program);
  if (!program) return nullptr;
  interp::ProgramViewOptions options;
  options.entry = log.run().entry;
  for (const auto& [name, size] : log.run().sizes) options.sizes.bind(name, size);
  options.phases = phases_of(log);
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

struct Address {
  std::string function;
  uint32_t number = 0;
};

/// Parses `@f#9`; anything else becomes number 0 of the entry.
Address parse_address(const std::string& text, const std::string& entry) {
  const size_t mark = text.rfind('#');
  if (!text.starts_with('@') || mark == std::string::npos) return {entry, 0};
  Address out{text.substr(1, mark - 1), 0};
  std::from_chars(text.data() + mark + 1, text.data() + text.size(), out.number);
  return out;
}

/// The world mesh from the text, else one axis of all ranks.
Mesh mesh_of(const LogReader& log) {
  const auto program = text::parse_program(log.tables().program);
  const Mesh* mesh = program ? program->find_mesh(log.tables().mesh) : nullptr;
  if (mesh && mesh->size() == log.run().rank_count) return *mesh;
  Mesh made;
  made.name = log.tables().mesh.empty() ? "ranks" : log.tables().mesh;
  made.axes = {{"rank", log.run().rank_count}};
  return made;
}

void add_communicators(const LogReader& log, interp::Code& code) {
  for (const interp::LogCommunicator& logged : log.communicators()) {
    interp::Communicator c;
    c.name = logged.name;
    c.groups = logged.groups;
    c.content_key = logged.content_key;
    const auto ranks = static_cast<size_t>(code.rank_count);
    c.group_of_rank.assign(ranks, -1);
    c.position_of_rank.assign(ranks, -1);
    for (size_t g = 0; g < c.groups.size(); ++g) {
      for (size_t p = 0; p < c.groups[g].size(); ++p) {
        const auto rank = static_cast<size_t>(c.groups[g][p]);
        if (c.groups[g][p] < 0 || rank >= ranks) continue;
        c.group_of_rank[rank] = static_cast<int32_t>(g);
        c.position_of_rank[rank] = static_cast<int32_t>(p);
      }
    }
    code.communicators.push_back(std::move(c));
  }
}

/// The logged instructions; never empty, so that there is always a first one.
std::vector<LogInstruction> listed(const LogReader& log) {
  if (!log.instructions().empty()) return log.instructions();
  LogInstruction none;
  none.address = "@" + log.run().entry + "#1";
  none.mnemonic = "return";
  none.text = "// the log holds no instructions";
  return {none};
}

/// A program with only the kinds and addresses of the logged instructions.
std::shared_ptr<const interp::Code> listed_code(const LogReader& log) {
  auto program = std::make_shared<Program>();
  const Mesh& mesh = program->add_mesh(mesh_of(log));
  const std::string mesh_name = mesh.name;
  auto code = std::make_shared<interp::Code>();
  code->entry = log.run().entry;
  code->rank_count = static_cast<interp::Rank>(log.run().rank_count);
  code->streams = log.tables().streams;
  add_communicators(log, *code);

  std::vector<Function> functions;
  std::map<std::string, uint32_t> by_name;
  const auto function_of = [&](const std::string& name) {
    const auto [at, added] = by_name.try_emplace(name, static_cast<uint32_t>(functions.size()));
    if (added) {
      Function f;
      f.kind = FunctionKind::kHost;
      f.name = name;
      f.mesh = mesh_name;
      f.body = f.add_region();
      functions.push_back(std::move(f));
    }
    return at->second;
  };
  function_of(code->entry);
  for (const LogInstruction& logged : listed(log)) {
    const Address address = parse_address(logged.address, code->entry);
    CodeInstruction c;
    c.kind = find_op(logged.mnemonic).value_or(OpKind::return_);
    c.role = interp::CodeRole::kJump;  // not executable, without operands
    c.address = address.number;
    c.function = function_of(address.function);
    Instruction instruction;
    instruction.kind = c.kind;
    Function& function = functions[c.function];
    c.instr = function.add_instruction(function.body, std::move(instruction));
    code->instructions.push_back(std::move(c));
  }
  std::vector<std::string> names;
  for (Function& f : functions) {
    names.push_back(f.name);
    program->add_function(std::move(f));
  }
  for (const std::string& name : names) code->functions.push_back(program->find_function(name));
  code->world = program->find_mesh(mesh_name);
  code->program = std::move(program);
  return code;
}

std::string list_of(const LogReader& log, std::vector<uint32_t>& lines) {
  std::string text =
      "// The instructions as they were logged: the program text is missing or no longer gives "
      "them.\n\n";
  uint32_t line = 3;
  std::string function;
  for (const LogInstruction& logged : listed(log)) {
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
    text += "  " + shown + "\n";
    lines.push_back(line++);
  }
  return text;
}

}  // namespace

std::shared_ptr<const interp::ProgramView> program_of(const LogReader& log) {
  if (auto view = as_written(log)) return view;
  auto view = std::make_shared<interp::ProgramView>();
  auto sources = std::make_shared<SourceManager>();
  view->file = sources->add(log.run().entry + ".hir", list_of(log, view->lines));
  view->sources = std::move(sources);
  view->phases = phases_of(log);
  view->code = listed_code(log);
  return view;
}

}  // namespace hostir::traces
