// Commands of the terminal debugger itself, in addition to those of a session.
//
// They read lines (`source`, `commands`), repeat a `print` at every stop (`display`), or choose
// the frame that `list` shows (`up`, `down`). Names, arguments and meaning are gdb's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hostir::cli {

enum class ReplWord : uint8_t { kDisplay, kUndisplay, kSource, kCommands, kUp, kDown, kLocals };

/// A line that begins with one of these words, and what follows it. `display/x %y` has the
/// arguments `/x %y`.
struct ReplLine {
  ReplWord word = ReplWord::kDisplay;
  std::string arguments;
};
/// nullopt for the commands of a session.
std::optional<ReplLine> find_repl_word(std::string_view line);

/// One line per word, or the explanation of one; empty if `topic` is none of them.
std::string repl_help(std::string_view topic);

/// The words that begin with `line`.
std::vector<std::string> complete_repl_word(std::string_view line);

/// `1 2 3`; nullopt unless all are numbers of at least 1.
std::optional<std::vector<uint32_t>> read_numbers(std::string_view text);

}  // namespace hostir::cli
