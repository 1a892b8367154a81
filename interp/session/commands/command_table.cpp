#include "interp/session/commands/command_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/lists.h"
#include "hostir/text/suggest.h"

namespace hostir::interp {
namespace {

using K = CommandKind;

// In the order of the help text.
const CommandSpec kTable[] = {
    {K::kRun,
     "run",
     {"r"},
     "",
     "Run from the start, or from here if nothing ran yet.",
     "Run",
     "Ctrl+Shift+F5"},
    {K::kContinue,
     "continue",
     {"c", "cont"},
     "",
     "Run until a breakpoint, a fault or the end.",
     "Run",
     "F5"},
    {K::kStep,
     "step",
     {"s"},
     "[COUNT]",
     "Execute one host instruction, going into loops and calls.",
     "Run",
     "F11"},
    {K::kNext,
     "next",
     {"n"},
     "[COUNT]",
     "Execute one host instruction; a loop or a call counts as one.",
     "Run",
     "F10"},
    {K::kFinish,
     "finish",
     {"fin"},
     "",
     "Run to the end of the current loop or call.",
     "Run",
     "Ctrl+F11"},
    {K::kUntil,
     "until",
     {"u", "advance"},
     "PLACE",
     "Run until the place is reached: an instruction, collective, rendezvous, nan, write %y, end.",
     "Run",
     "Ctrl+F10"},
    {K::kReverseContinue,
     "reverse-continue",
     {"rc"},
     "",
     "Run backwards to the previous breakpoint, or to the start.",
     "Run",
     "Shift+F5"},
    {K::kReverseStep,
     "reverse-step",
     {"rs"},
     "[COUNT]",
     "Take back the last host instruction.",
     "Run",
     "Shift+F11"},
    {K::kReverseNext,
     "reverse-next",
     {"rn"},
     "[COUNT]",
     "Take back one host instruction; a loop or a call counts as one.",
     "Run",
     "Shift+F10"},
    {K::kReverseFinish,
     "reverse-finish",
     {"rfin"},
     "",
     "Go back to where the current loop or call was entered.",
     "Run",
     "Ctrl+Shift+F11"},
    {K::kReverseUntil,
     "reverse-until",
     {"ru"},
     "PLACE",
     "Run backwards until the place is reached.",
     "Run",
     "Ctrl+Shift+F10"},
    {K::kGoto,
     "goto",
     {"g"},
     "NUMBER|start|end",
     "Go to a position, forwards or backwards; runs what has not run yet.",
     "Run",
     "Ctrl+G"},
    {K::kRank,
     "rank",
     {"thread"},
     "RANKS",
     "Choose the ranks that steps move: 3, all, group tp, tp=0; the first becomes the focus.",
     "View",
     ""},
    {K::kFocus,
     "focus",
     {},
     "RANK",
     "Make this rank the focus. Steps still move the same ranks; if they moved a group, they now "
     "move this rank's.",
     "View",
     "Alt+1"},
    {K::kFreeze, "freeze", {}, "[RANKS]", "Keep ranks from moving.", "Run", "Alt+F"},
    {K::kThaw, "thaw", {}, "[RANKS]", "Let frozen ranks move again.", "Run", "Alt+Shift+F"},
    {K::kBreak,
     "break",
     {"b"},
     "PLACE [on RANKS] [if CONDITION]",
     "Stop before an instruction, once for all ranks that reach it (`on all`: once per rank), or "
     "at a kind of event.",
     "Break",
     "F9"},
    {K::kTbreak,
     "tbreak",
     {"tb"},
     "PLACE [on RANKS] [if CONDITION]",
     "The same, once.",
     "Break",
     ""},
    {K::kWatch,
     "watch",
     {"w"},
     "%VALUE[INDEX] [on RANKS] [if CONDITION]",
     "Stop when a write of the value, or of one element of it, completed.",
     "Break",
     "Shift+F9"},
    {K::kDprintf,
     "dprintf",
     {"log"},
     "PLACE, \"TEXT {EXPRESSION}\" [on RANKS] [if CONDITION]",
     "Write a line at each hit and continue: log all_reduce, \"seq {seq}: {max(%y)}\".",
     "Break",
     ""},
    {K::kDelete,
     "delete",
     {"d"},
     "[NUMBER..]",
     "Delete breakpoints, all if none is named, and say which.",
     "Break",
     ""},
    {K::kEnable, "enable", {}, "[NUMBER..]", "Enable breakpoints.", "Break", "Ctrl+F9"},
    {K::kDisable, "disable", {}, "[NUMBER..]", "Disable breakpoints.", "Break", ""},
    {K::kCondition,
     "condition",
     {"cond"},
     "NUMBER [CONDITION]",
     "Set or clear the condition of a breakpoint.",
     "Break",
     ""},
    {K::kIgnore,
     "ignore",
     {},
     "NUMBER COUNT",
     "Skip the next COUNT stops of a breakpoint.",
     "Break",
     ""},
    {K::kPrint,
     "print",
     {"p", "inspect"},
     "%VALUE[SLICE]|EXPRESSION [rank RANKS|global]",
     "Show contents, or a number such as max(%y[0, :]) - 1: on the focus rank, on other ranks, or "
     "assembled from all of them.",
     "View",
     "Ctrl+P"},
    {K::kExamine,
     "x",
     {},
     "%VALUE[SLICE] [rank RANKS|global]",
     "Show the bits of elements. x/4: of 4 consecutive ones; x/4d, x/4e: as numbers.",
     "View",
     ""},
    {K::kInside,
     "inside",
     {},
     "[%VALUE[INDEX]] [rank RANKS] [at PLACE]",
     "Show what happens inside a launch or collective for one element that it writes: each op with "
     "its numbers, or the contributing elements. The instruction is the current one, or the one at "
     "PLACE.",
     "View",
     ""},
    {K::kSet,
     "set",
     {},
     "%VALUE[INDEX] = VALUE [rank RANKS]",
     "Edit elements; opens a branch of the history if there are later decisions.",
     "Run",
     ""},
    {K::kWhatIf,
     "whatif",
     {},
     "",
     "At a deadlock or mismatch: propose small edits of the program, try each, show which let it "
     "complete.",
     "Run",
     ""},
    {K::kInfo,
     "info",
     {"i"},
     "ranks|colls|waits|streams|events|memory|break|program|layout [%VALUE]|faults|history",
     "Show a table.",
     "View",
     ""},
    {K::kBacktrace,
     "backtrace",
     {"bt", "where"},
     "[rank RANKS]",
     "Show the calls and loops a rank is in.",
     "View",
     "F4"},
    {K::kList, "list", {"l"}, "[PLACE]", "Show the program around a place.", "View", ""},
    {K::kHelp, "help", {"h"}, "[COMMAND]", "Explain commands.", "Session", "?"},
    {K::kQuit, "quit", {"q", "exit"}, "", "End the session.", "Session", "Ctrl+Q"},
};

constexpr KeyBinding kKeys[] = {
    {"F6", "until collective", "Next collective"},
    {"Shift+F6", "reverse-until collective", "Previous collective"},
    {"F7", "until rendezvous", "Next rendezvous"},
    {"Shift+F7", "reverse-until rendezvous", "Previous rendezvous"},
    {"F8", "until nan", "Next NaN or Inf"},
    {"Shift+F8", "reverse-until nan", "Previous NaN or Inf"},
};

constexpr std::string_view kTopics[] = {"ranks", "colls",   "waits",  "streams", "events", "memory",
                                        "break", "program", "layout", "faults",  "history"};

bool is_exactly(const CommandSpec& command, std::string_view word) {
  return command.name == word || contains(command.aliases, word);
}

// `; did you mean "step"?` if a name is close enough.
std::string suggestion(std::string_view word) {
  const CommandSpec* best = &kTable[0];
  for (const CommandSpec& c : kTable) {
    if (text::edit_distance(word, c.name) < text::edit_distance(word, best->name)) best = &c;
  }
  const size_t near = word.size() < 4 ? 1 : 2;
  if (text::edit_distance(word, best->name) > near) return "; help lists all";
  return fmt::format("; did you mean \"{}\"?", best->name);
}

std::string usage_line(const CommandSpec& command) {
  std::string out(command.name);
  for (const std::string_view alias : command.aliases) out += fmt::format(", {}", alias);
  if (!command.arguments.empty()) out += fmt::format(" {}", command.arguments);
  return out;
}

void add_matching(std::vector<std::string>& out, std::string_view head, std::string_view prefix,
                  std::string_view candidate) {
  if (candidate.substr(0, prefix.size()) == prefix)
    out.push_back(std::string(head).append(candidate));
}

}  // namespace

std::span<const CommandSpec> command_table() { return kTable; }
std::span<const KeyBinding> key_bindings() { return kKeys; }

const CommandSpec& spec(CommandKind kind) {
  for (const CommandSpec& c : kTable) {
    if (c.kind == kind) return c;
  }
  return kTable[0];
}

bool needs_run(CommandKind kind) {
  switch (kind) {
    case K::kStep:
    case K::kNext:
    case K::kFinish:
    case K::kUntil:
    case K::kContinue:
    case K::kReverseStep:
    case K::kReverseNext:
    case K::kReverseFinish:
    case K::kReverseUntil:
    case K::kReverseContinue:
    case K::kGoto:
    case K::kRun:
    case K::kFreeze:
    case K::kThaw:
    case K::kSet:
    case K::kWhatIf:
      return true;
    default:
      return false;
  }
}

Expected<CommandKind> find_command(std::string_view word) {
  std::vector<const CommandSpec*> begins;
  for (const CommandSpec& c : kTable) {
    if (is_exactly(c, word)) return c.kind;
    if (c.name.substr(0, word.size()) == word) begins.push_back(&c);
  }
  if (begins.size() == 1) return begins.front()->kind;
  if (begins.empty()) {
    return fail(ErrorKind::kUsage, "command",
                fmt::format("unknown command \"{}\"{}", word, suggestion(word)));
  }
  std::string names;
  for (const CommandSpec* c : begins)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", c->name);
  return fail(ErrorKind::kUsage, "command",
              fmt::format("ambiguous command \"{}\": {}", word, names));
}

std::vector<std::string> complete(std::string_view line, std::span<const std::string> names) {
  std::vector<std::string> out;
  const size_t blank = line.find_last_of(" \t");
  if (blank == std::string_view::npos) {
    for (const CommandSpec& c : kTable) add_matching(out, "", line, c.name);
    return out;
  }
  // A name may follow a bracket: `break all_reduce if nan(%y`.
  const size_t begin = line.find_last_of(" \t([{,!") + 1;
  const std::string_view head = line.substr(0, begin);
  const std::string_view tail = line.substr(begin);
  const auto command = find_command(line.substr(0, line.find_first_of(" \t")));
  if (command && *command == K::kInfo) {
    for (const std::string_view topic : kTopics) add_matching(out, head, tail, topic);
  }
  if (command && *command == K::kHelp) {
    for (const CommandSpec& c : kTable) add_matching(out, head, tail, c.name);
  }
  for (const std::string& name : names) add_matching(out, head, tail, name);
  return out;
}

Expected<std::string> help_text(std::string_view topic) {
  std::string out;
  if (topic.empty()) {
    for (const CommandSpec& c : kTable) out += fmt::format("  {:<44} {}\n", usage_line(c), c.help);
    return out;
  }
  HOSTIR_ASSIGN_OR_RETURN(const CommandKind kind, find_command(topic));
  const CommandSpec& c = spec(kind);
  out = fmt::format("{}\n  {}\n", usage_line(c), c.help);
  if (!c.key.empty()) out += fmt::format("  key: {}\n", c.key);
  return out;
}

}  // namespace hostir::interp
