// Where the value of a write came from: through collectives to the other ranks' addends and blocks,
// through launches to what they read.
//
// Made from the log on the log's thread, for one write at a time; plain values. A tree written as
// rows with a depth, to a depth and a number of rows that a person can read.
#pragma once

#include <string>
#include <vector>

#include "interp/session/log_view.h"
#include "interp/session/program_view.h"

namespace hostir::gui {

inline constexpr size_t kMaxSources = 500;  // rows of one write

struct SourceRow {
  int depth = 1;         // 1: a source of the write itself; deeper: where the row above came from
  std::string relation;  // "addend", "block", "reads"
  std::string value;     // whose write it is, without '%'
  interp::LogValue write;
  bool written = true;   // false: a parameter that nobody has written
  bool newest = false;   // the log's last write of that value on that rank
  bool follows = false;  // the same element, so that its value can be followed
  std::string loop;
};

/// The sources of a write; `element`: of the element that is followed, empty: all of it.
Expected<std::vector<SourceRow>> make_sources(const interp::LogView& log,
                                              const interp::ProgramView& program,
                                              const interp::LogValue& write,
                                              const std::vector<int64_t>& element,
                                              const std::stop_token& stop);

/// `@f#9  all_reduce ...`; empty where the log does not know the instruction.
std::string instruction_text(const interp::LogView& log, interp::CodeIndex instruction);

}  // namespace hostir::gui
