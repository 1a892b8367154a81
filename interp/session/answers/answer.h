// The inspection commands: info, print, x, backtrace, list, help.
//
// They need only a snapshot and `Session::read`, so live and recorded sessions answer them
// identically. Texts end with a newline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/inside/inside.h"
#include "interp/session/session.h"

namespace hostir::interp {

/// True for commands that `answer` handles.
bool only_looks(CommandKind kind);

/// Errors: those of `read`, and of selectors and places that do not exist in the program.
Expected<std::string> answer(Session& session, const Command& command);

/// A value displayed by `print` or `x`: one rank's part, or the whole.
struct PrintedValue {
  std::string name;          // without '%'
  std::optional<Rank> rank;  // nullopt: assembled from all ranks
  Expected<ValueReading> reading;
};

/// One entry per rank that `print` or `x` names. If several ranks are named, a failed read is
/// stored in its entry.
/// Errors: a failed read if only one is requested; ranks and slices that do not exist.
Expected<std::vector<PrintedValue>> read_printed(Session& session, const Command& command);

/// The value as `print` or `x` formats it.
std::string printed_text(const std::vector<PrintedValue>& values, const Command& command);

/// How an instruction computes an element, for each rank that `inside` names.
/// Errors: those of Session::inside; places and ranks that do not exist.
Expected<std::vector<Inside>> read_inside(Session& session, const Command& command);
std::string insides_text(const std::vector<Inside>& found);

/// The lines that `list` shows.
struct ListedLines {
  std::string file;
  uint32_t first = 1;  // 1-based
  std::vector<std::string> lines;
  uint32_t here = 0;  // the focus rank's line; 0: not in this file
};
/// Errors: places that do not exist.
Expected<ListedLines> read_listed(const Snapshot& snapshot, const Command& command);
/// The lines that follow in the same file, for a `list` that continues; empty at its end.
ListedLines read_listed_after(const Snapshot& snapshot, const ListedLines& before);
std::string listed_text(const ListedLines& listed);

/// The focus rank's call or loop: 0 is its position, 1 the innermost loop or call around that.
struct Frame {
  std::string text;      // as `backtrace` shows it
  Command list_command;  // shows its lines
};
/// nullopt outside of the outermost frame.
std::optional<Frame> read_frame(const Snapshot& snapshot, size_t number);

/// A rank's position: its address, line and source text with an arrow.
std::string position_text(const Snapshot& snapshot, Rank rank);

}  // namespace hostir::interp
