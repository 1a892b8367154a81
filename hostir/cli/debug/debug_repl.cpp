#include "hostir/cli/debug/debug_repl.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <fstream>
#include <map>
#include <set>

#include "hostir/cli/debug/line_editor.h"
#include "hostir/cli/debug/repl_words.h"
#include "hostir/cli/interrupt.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/session/answers/answer.h"
#include "interp/session/answers/locals.h"
#include "interp/session/commands/command_table.h"
#include "interp/session/commands/rank_selection.h"

namespace hostir::cli {
namespace {

using interp::Command;
using interp::CommandKind;
using interp::Outcome;
using interp::Snapshot;
using interp::StopKind;
using interp::StopReason;

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
    if (m.steps != 0 && !contains(amounts, m.steps)) amounts.push_back(m.steps);
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

int status_of(const StopReason& stop, int before, const Snapshot& snapshot) {
  switch (stop.kind) {
    case StopKind::kDeadlock:
      return 4;
    case StopKind::kFault: {
      const bool mismatch =
          !snapshot.faults->empty() && snapshot.faults->back().kind == "collective_mismatch";
      return mismatch ? 4 : 3;
    }
    case StopKind::kFinished:
      return stop.wrong || has_error(snapshot) ? 3 : 0;
    default:
      return before;
  }
}

// What an argument can name: values, functions, ops, and files before a line number.
std::vector<std::string> completion_names(const interp::ProgramView& program) {
  std::set<std::string> names;
  for (uint32_t reg = 0; program.code && reg < program.code->registers.size(); ++reg)
    names.insert(program.code->register_name(reg));
  names.insert("@" + program.entry);
  for (const model::Instruction& i : program.instructions) {
    names.insert(i.address.substr(0, i.address.rfind('#')));
    names.insert(i.mnemonic);
  }
  names.erase("");
  const auto add_file = [&](std::string_view path) {
    names.insert(std::string(path.substr(path.find_last_of('/') + 1)) + ":");
  };
  add_file(program.sources->name(program.file));
  const auto& given = program.given.texts;
  for (uint32_t file = 0; given && file < given->size(); ++file) add_file(given->name(file));
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
      pending_.push_back({*line, 0});
      while (!pending_.empty()) {
        const Line next = std::move(pending_.front());
        pending_.pop_front();
        depth_ = next.depth;
        if (!one_line(next.text)) return status_;
      }
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
    if (!commanded_.empty()) return command_of_breakpoint(line);
    const size_t hash = line.find("# ");
    if (hash == 0 || line == "#") return true;
    const bool blank = trimmed(line).empty();
    if (blank && last_.empty()) return true;
    if (blank) line = last_;
    if (line.starts_with("complete ")) {
      complete(line.substr(9));
      return true;
    }
    if (const auto own = find_repl_word(line)) {
      last_ = own->word == ReplWord::kUp || own->word == ReplWord::kDown ? line : "";
      if (const auto done = execute_own(*own); !done) report(done.error());
      return true;
    }
    const auto command = interp::parse_command(line);
    if (!command) {
      report(command.error());
      return true;
    }
    last_ = repeats(command->kind) ? line : "";
    if (command->kind == CommandKind::kList) return list(*command);
    if (command->kind == CommandKind::kHelp) return help(*command);
    return execute(*command);
  }

  Expected<void> execute_own(const ReplLine& line) {
    switch (line.word) {
      case ReplWord::kDisplay:
        return display(line.arguments);
      case ReplWord::kUndisplay:
        return undisplay(line.arguments);
      case ReplWord::kSource:
        return source(line.arguments);
      case ReplWord::kCommands:
        return read_commands(line.arguments);
      case ReplWord::kUp:
        return choose_frame(line.arguments, 1);
      case ReplWord::kDown:
        return choose_frame(line.arguments, -1);
      case ReplWord::kLocals:
        output_ << interp::locals_text(session_);
        return {};
    }
    return {};
  }

  static tl::unexpected<Error> wrong(std::string message) {
    return fail(ErrorKind::kUsage, "command", std::move(message));
  }

  Expected<void> display(const std::string& printed) {
    if (printed.empty()) {
      show_displays();
      return {};
    }
    const std::string text = printed.front() == '/' ? "print" + printed : "print " + printed;
    HOSTIR_ASSIGN_OR_RETURN(const Command command, interp::parse_command(text));
    displays_.emplace(++last_display_, command);
    show_display(last_display_, command);
    return {};
  }

  Expected<void> undisplay(const std::string& arguments) {
    const auto numbers = read_numbers(arguments);
    if (!numbers) return wrong("undisplay takes numbers of displays: undisplay 1 2");
    if (numbers->empty()) displays_.clear();
    for (const uint32_t number : *numbers) {
      if (displays_.erase(number) == 0) return wrong(fmt::format("there is no display {}", number));
    }
    return {};
  }

  void show_displays() {
    for (const auto& [number, command] : displays_) show_display(number, command);
  }

  // A value that does not exist at this stop is not an error, because it may exist at the next one.
  void show_display(uint32_t number, const Command& command) {
    const auto outcome = session_.execute(command, std::stop_token());
    output_ << number << ": "
            << (outcome ? outcome->text
                        : fmt::format("{}: {}\n", interp::to_string(command),
                                      outcome.error().message()));
  }

  Expected<void> source(const std::string& path) {
    constexpr int kDeepest = 16;
    std::ifstream file(path);
    if (path.empty() || !file) return wrong("source: cannot read \"" + path + "\"");
    if (depth_ >= kDeepest)
      return wrong(fmt::format("source: \"{}\" is nested {} files deep; does it source itself?",
                               path, kDeepest));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    queue(lines, depth_ + 1);
    return {};
  }

  // Runs the lines before anything else that is pending.
  void queue(const std::vector<std::string>& lines, int depth) {
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      pending_.push_front({*line, depth});
  }

  Expected<void> read_commands(const std::string& arguments) {
    auto numbers = read_numbers(arguments);
    if (!numbers) return wrong("commands takes numbers of breakpoints: commands 1 2");
    const auto& existing = *session_.snapshot()->breakpoints;
    if (numbers->empty() && !existing.empty()) numbers->push_back(existing.back().number);
    if (numbers->empty()) return wrong("there is no breakpoint to run commands at");
    for (const uint32_t number : *numbers) {
      const bool exists = std::any_of(existing.begin(), existing.end(),
                                      [&](const auto& b) { return b.number == number; });
      if (!exists) return wrong(fmt::format("there is no breakpoint {}", number));
    }
    for (const uint32_t number : *numbers) commands_[number].clear();
    commanded_ = std::move(*numbers);
    output_ << "Commands for these stops, one per line; a line `end` ends them.\n";
    return {};
  }

  bool command_of_breakpoint(const std::string& line) {
    if (trimmed(line) == "end") {
      commanded_.clear();
      return true;
    }
    for (const uint32_t number : commanded_) commands_[number].push_back(line);
    return true;
  }

  Expected<void> choose_frame(const std::string& arguments, int direction) {
    const auto counts = read_numbers(arguments);
    if (!counts || counts->size() > 1) return wrong("up and down take a count: up 2");
    const int64_t count = counts->empty() ? 1 : counts->front();
    const interp::SnapshotPtr snapshot = session_.snapshot();
    const auto outermost = static_cast<int64_t>(snapshot->rank(snapshot->focus).frames.size());
    const int64_t wanted = std::clamp(frame_ + direction * count, int64_t{0}, outermost);
    if (wanted == frame_)
      return wrong(direction > 0 ? "this is the outermost frame" : "this is the innermost frame");
    frame_ = wanted;
    listed_.reset();
    if (const auto frame = interp::read_frame(*snapshot, static_cast<size_t>(frame_)))
      output_ << frame->text;
    return {};
  }

  void forget_frame() {
    frame_ = 0;
    listed_.reset();
  }

  // Without a place: around the frame that was chosen, then on from the lines listed last.
  bool list(const Command& command) {
    const interp::SnapshotPtr snapshot = session_.snapshot();
    if (!command.place && listed_) {
      listed_ = interp::read_listed_after(*snapshot, *listed_);
      if (listed_->lines.empty()) output_ << listed_->file << " has no more lines\n";
      output_ << interp::listed_text(*listed_);
      return true;
    }
    const auto frame = interp::read_frame(*snapshot, static_cast<size_t>(frame_));
    auto lines =
        interp::read_listed(*snapshot, command.place || !frame ? command : frame->list_command);
    if (!lines) {
      report(lines.error());
      return true;
    }
    listed_ = std::move(*lines);
    output_ << interp::listed_text(*listed_);
    return true;
  }

  bool help(const Command& command) {
    const std::string own = repl_help(command.text);
    if (command.text.empty() || own.empty()) execute(command);
    output_ << own;
    return true;
  }

  bool execute(const Command& command) {
    auto outcome = run(command);
    if (!outcome) {
      report(outcome.error());
      return true;
    }
    if (outcome->quit) return false;
    output_ << outcome->text;
    if (command.kind == CommandKind::kRank || command.kind == CommandKind::kFocus) forget_frame();
    show_log(*outcome);
    if (outcome->ran) show_outcome(command, *outcome);
    return true;
  }

  // Commands that only inspect are too short to need an interrupt.
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
    auto out = interp::complete(line, completion_names(*session_.snapshot()->program));
    for (std::string& word : complete_repl_word(line)) out.push_back(std::move(word));
    return out;
  }

  // Prints the output of log points since the last command.
  void show_log(const Outcome& outcome) {
    if (outcome.log_dropped > 0)
      output_ << fmt::format("{} earlier log point lines were not kept\n", outcome.log_dropped);
    const interp::SnapshotPtr shot = session_.snapshot();
    for (const interp::LogLine& line : outcome.logged)
      output_ << fmt::format("rank {} at {}: {}\n", line.rank, shot->program->address(line.code),
                             line.text);
  }

  void show_outcome(const Command& command, const Outcome& outcome) {
    const interp::SnapshotPtr snapshot = session_.snapshot();
    forget_frame();
    status_ = status_of(outcome.stop, status_, *snapshot);
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
    show_displays();
    if (outcome.stop.kind != StopKind::kBreakpoint) return;
    const auto commands = commands_.find(outcome.stop.breakpoint);
    if (commands != commands_.end()) queue(commands->second, depth_);
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
    if (!pending_.empty()) output_ << "skipped the remaining commands\n";
    pending_.clear();
    if (options_.echo == ReplOptions::Echo::kYes && error.kind == ErrorKind::kUsage) status_ = 64;
  }

  interp::Session& session_;
  std::ostream& output_;
  const ReplOptions& options_;
  std::string last_;
  struct Line {
    std::string text;
    int depth = 0;  // how many files source each other
  };
  std::deque<Line> pending_;  // to run before the next line is read
  int depth_ = 0;             // of the line that runs
  std::map<uint32_t, Command> displays_;
  uint32_t last_display_ = 0;
  std::map<uint32_t, std::vector<std::string>> commands_;  // by breakpoint
  std::vector<uint32_t> commanded_;            // whose commands are being read; empty: none
  int64_t frame_ = 0;                          // 0: the position
  std::optional<interp::ListedLines> listed_;  // that `list` continues
  int status_ = 0;
};

}  // namespace

int debug_repl(interp::Session& session, std::istream& input, std::ostream& output,
               const ReplOptions& options) {
  return Repl(session, output, options).run(input);
}

}  // namespace hostir::cli
