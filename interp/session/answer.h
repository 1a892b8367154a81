// The inspection commands: info, print, x, backtrace, list, help.
//
// They need only a snapshot and `Session::read`, so live and recorded sessions answer them
// identically. Texts end with a newline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/session.h"

namespace hostir::interp {

/// True for commands that `answer` handles.
bool only_looks(CommandKind kind);

/// Errors: those of `read`, and of selectors and places that do not exist in the program.
Expected<std::string> answer(Session& session, const Command& command);

/// What `print` and `x` show of a value: one rank's part, or the whole.
struct PrintedValue {
  std::string name;          // without '%'
  std::optional<Rank> rank;  // nothing: assembled from all ranks
  Expected<ValueReading> reading;
};

/// One per rank that `print` or `x` names. Errors: where a single one is asked for and cannot be
/// read; ranks and slices that there are not. Among several a failed one holds its own error.
Expected<std::vector<PrintedValue>> read_printed(Session& session, const Command& command);

/// What was read, as `print` or `x` writes it.
std::string printed_text(const std::vector<PrintedValue>& values, const Command& command);

/// Where a rank is: its address, line and source text with an arrow.
std::string position_text(const Snapshot& snapshot, Rank rank);

}  // namespace hostir::interp
