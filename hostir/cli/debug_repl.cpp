#include "hostir/cli/debug_repl.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "hostir/cli/interrupt.h"
#include "hostir/cli/line_editor.h"
#include "hostir/ops/record.h"
#include "interp/session/answer.h"
#include "interp/session/command_table.h"
#include "interp/session/rank_selection.h"

namespace hostir::cli {
namespace {

using interp::Command;
using interp::CommandKind;
using interp::Outcome;
using interp::Snapshot;
using interp::StopKind;

// True for commands that an empty line repeats.
bool repeats(CommandKind kind) {
  switch (kind) {
    case CommandKind::kStep:
    case CommandKind::kNext:
    case CommandKind::kFinish:
    case CommandKind::kUntil:
    case CommandKind::kContinue:
    case CommandKind::kReverseStep:
    case CommandKind::kReverseNext:
    case CommandKind::kReverseFinish:
    case CommandKind::kReverseUntil:
    case CommandKind::kReverseContinue:
    case CommandKind::kList:
      return true;
    default:
      return false;
  }
}

// How far each rank moved, grouping ranks that moved equally far.
std::string moves_text(const std::vector<interp::RankMove>& moves, interp::Rank rank_count) {
  std::string out;
  std::vector<int64_t> amounts;
  for (const interp::RankMove& m : moves) {
    if (m.steps != 0 && std::find(amounts.begin(), amounts.end(), m.steps) == amounts.end())
      amounts.push_back(m.steps);
  }
  for (const int64_t amount : amounts) {
    std::vector<interp::Rank> ranks;
    for (const interp::RankMove& m : moves) {
      if (m.steps == amount) ranks.push_back(m.rank);
    }
    out += fmt::format("{}{} {:+}", out.empty() ? "" : "; ",
                       interp::ranks_to_string(ranks, rank_count), amount);
  }
  return out;
}

bool has_error(const Snapshot& snapshot) {
  return std::any_of(snapshot.faults->begin(), snapshot.faults->end(),
                     [](const auto& f) { return f.severity == Severity::kError; });
}

int status_of(StopKind kind, int before, const Snapshot& snapshot) {
  switch (kind) {
    case StopKind::kDeadlock:
      return 4;
    case StopKind::kFault: {
      const bool mismatch =
          !snapshot.faults->empty() && snapshot.faults->back().kind == "collective_mismatch";
      return mismatch ? 4 : 3;
    }
    case StopKind::kFinished:
      return has_error(snapshot) ? 3 : 0;
    default:
      return before;
  }
}

// What an argument can name: values, functions, ops, and files before a line number.
std::vector<std::string> completion_names(const interp::ProgramView& program) {
  const interp::Code& code = *program.code;
  std::set<std::string> names;
  for (uint32_t reg = 0; reg < code.registers.size(); ++reg) names.insert(code.register_name(reg));
  for (const Function* function : code.functions) names.insert("@" + function->name);
  for (const interp::CodeInstruction& c : code.instructions) {
    if (c.role == interp::CodeRole::kInstruction)
      names.insert(std::string(record(c.kind).mnemonic));
  }
  const auto add_file = [&](std::string_view path) {
    names.insert(std::string(path.substr(path.find_last_of('/') + 1)) + ":");
  };
  add_file(program.sources->name(program.file));
  for (uint32_t file = 0; program.given && file < program.given->size(); ++file)
    add_file(program.given->name(file));
  return {names.begin(), names.end()};
}

class Repl {
 public:
  Repl(interp::Session& session, std::ostream& output, const ReplOptions& options)
      : session_(session), output_(output), options_(options) {}

  int run(std::istream& input) {
    show_position();
    std::unique_ptr<LineEditor> editor;
    if (options_.editing == ReplOptions::Editing::kOnTerminal)
      editor = LineEditor::create(options_.prompt,
                                  [this](const std::string& line) { return completions(line); });
    while (const auto line = editor ? edited_line(*editor) : plain_line(input)) {
      if (options_.echo == ReplOptions::Echo::kYes) output_ << *line << "\n";
      if (!one_line(*line)) return status_;
    }
    output_ << "\n";
    return status_;
  }

 private:
  std::optional<std::string> edited_line(LineEditor& editor) {
    output_ << std::flush;
    return editor.read();
  }

  std::optional<std::string> plain_line(std::istream& input) {
    output_ << options_.prompt << std::flush;
    std::string line;
    if (!std::getline(input, line)) return std::nullopt;
    return line;
  }

  bool one_line(std::string line) {
    const size_t hash = line.find("# ");
    if (hash == 0 || line == "#") return true;
    const bool blank = line.find_first_not_of(" \t\r") == std::string::npos;
    if (blank && last_.empty()) return true;
    if (blank) line = last_;
    if (line.starts_with("complete ")) {
      complete(line.substr(9));
      return true;
    }
    const auto command = interp::parse_command(line);
    if (!command) {
      report(command.error());
      return true;
    }
    last_ = repeats(command->kind) ? line : "";
    return execute(*command);
  }

  bool execute(const Command& command) {
    auto outcome = run(command);
    if (!outcome) {
      report(outcome.error());
      return true;
    }
    if (outcome->quit) return false;
    output_ << outcome->text;
    show_log(*outcome);
    if (outcome->ran) show_outcome(command, *outcome);
    return true;
  }

  // Commands that only look are too short to need an interrupt.
  Expected<Outcome> run(const Command& command) {
    if (interp::only_looks(command.kind) || options_.echo == ReplOptions::Echo::kYes)
      return session_.execute(command, std::stop_token());
    const InterruptGuard guard;
    auto outcome = session_.execute(command, guard.token());
    if (outcome && guard.signal() == SIGTERM) outcome->quit = true;
    return outcome;
  }

  // `complete`, as in gdb: lists completions of the line.
  void complete(const std::string& line) {
    for (const std::string& text : completions(line)) output_ << text << "\n";
  }

  std::vector<std::string> completions(const std::string& line) const {
    return interp::complete(line, completion_names(*session_.snapshot()->program));
  }

  // Prints the output of log points since the last command.
  void show_log(const Outcome& outcome) {
    if (outcome.log_dropped > 0)
      output_ << fmt::format("lines of log points that are not kept, before these: {}\n",
                             outcome.log_dropped);
    const interp::Code& code = *session_.snapshot()->program->code;
    for (const interp::LogLine& line : outcome.logged)
      output_ << fmt::format("rank {} at {}: {}\n", line.rank, code.address(line.code), line.text);
  }

  void show_outcome(const Command& command, const Outcome& outcome) {
    const interp::SnapshotPtr snapshot = session_.snapshot();
    status_ = status_of(outcome.stop.kind, status_, *snapshot);
    if (command.kind == CommandKind::kFreeze || command.kind == CommandKind::kThaw ||
        command.kind == CommandKind::kSet)
      return;
    const std::string moved = moves_text(outcome.moved, snapshot->rank_count());
    output_ << fmt::format(
        "[{}{}] {}\n", snapshot->position.decision,
        snapshot->position.branch > 0 ? fmt::format(" branch {}", snapshot->position.branch) : "",
        moved.empty() ? "nobody moved" : moved);
    if (!outcome.stop.sentence.empty()) output_ << outcome.stop.sentence << "\n";
    show_notes(outcome, *snapshot);
    if (outcome.stop.kind != StopKind::kFinished) show_position();
  }

  void show_notes(const Outcome& outcome, const Snapshot& snapshot) {
    const bool fault =
        outcome.stop.kind == StopKind::kFault || outcome.stop.kind == StopKind::kDeadlock;
    if (!fault || snapshot.faults->empty()) return;
    for (const std::string& note : snapshot.faults->back().notes)
      output_ << "note: " << note << "\n";
  }

  void show_position() {
    const interp::SnapshotPtr snapshot = session_.snapshot();
    output_ << interp::position_text(*snapshot, snapshot->focus);
  }

  void report(const Error& error) {
    for (const Diagnostic& d : error.diagnostics) output_ << d.message << "\n";
    if (options_.echo == ReplOptions::Echo::kYes && error.kind == ErrorKind::kUsage) status_ = 64;
  }

  interp::Session& session_;
  std::ostream& output_;
  const ReplOptions& options_;
  std::string last_;
  int status_ = 0;
};

}  // namespace

int debug_repl(interp::Session& session, std::istream& input, std::ostream& output,
               const ReplOptions& options) {
  return Repl(session, output, options).run(input);
}

}  // namespace hostir::cli
