// The table of commands; names, help, completion, menus and keys are generated from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/commands/command.h"

namespace hostir::interp {

struct CommandSpec {
  CommandKind kind;
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view arguments;  // `[PLACE] [if CONDITION] [on RANKS]`
  std::string_view help;       // one sentence
  std::string_view menu;       // `Run`, `Break`, `View`, `Session`: the GUI menu
  std::string_view key;        // `F10`; empty: none
};

/// A key for a command with arguments: `F6` is `until collective`.
struct KeyBinding {
  std::string_view key;
  std::string_view command;
  std::string_view label;  // for menus
};

std::span<const CommandSpec> command_table();
std::span<const KeyBinding> key_bindings();
const CommandSpec& spec(CommandKind kind);

/// True for commands that need the run itself: they move it, edit values, or try edits.
bool needs_run(CommandKind kind);

/// The command for a word: a name, an alias, or an unambiguous prefix of a name, as in gdb.
/// Errors: unknown (with the nearest name) or ambiguous (with the candidates).
Expected<CommandKind> find_command(std::string_view word);

/// Completions for the end of `line`: command words, topics and values from `names`.
std::vector<std::string> complete(std::string_view line, std::span<const std::string> names);

/// `help`: the table; `help step`: one entry.
Expected<std::string> help_text(std::string_view topic);

}  // namespace hostir::interp
