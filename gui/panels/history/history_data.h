// Traces the value of a write back to its sources: through collectives to the other ranks' addends
// and blocks, through launches to what they read.
//
// Computed from the log on the log's thread, one write at a time, as plain values. The result is a
// tree, stored as rows with a depth; depth and number of rows are limited to what is readable.
#pragma once

#include <string>
#include <vector>

#include "interp/session/log/log_view.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::gui {

inline constexpr size_t kMaxSources = 500;  // maximum rows per write

struct SourceRow {
  int depth = 1;         // 1: a direct source of the write; deeper: a source of the row above it
  std::string relation;  // "addend", "block", "reads"
  std::string value;     // the tensor written, without '%'
  interp::LogValue write;
  bool written = true;   // false: a parameter that no instruction wrote
  bool newest = false;   // the last write of that value on that rank in the log
  bool follows = false;  // tracks the same element, so its value can be shown
  std::string loop;
};

/// The sources of a write. `element`: follows only this element; empty: the whole tensor.
Expected<std::vector<SourceRow>> make_sources(const interp::LogView& log,
                                              const interp::ProgramView& program,
                                              const interp::LogValue& write,
                                              const std::vector<int64_t>& element,
                                              const std::stop_token& stop);

/// `@f#9  all_reduce ...`; empty if the log has no such instruction.
std::string instruction_text(const interp::LogView& log, interp::CodeIndex instruction);

}  // namespace hostir::gui
