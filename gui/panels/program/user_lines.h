// Line numbers of the program as the user wrote it, for the text that runs.
//
// The text that runs is reprinted, and most of it may be generated: its own line numbers would
// compete with those of the user's file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "interp/session/prepare/program_view.h"

namespace hostir::gui {

struct UserLine {
  uint32_t line = 0;       // 1-based; 0: not from a line of the user's file
  bool generated = false;  // lowered from that line, which is shown elsewhere
};

/// One entry per line of `lines`, the text that runs. A recorded program without the user's text
/// has its own numbers.
std::vector<UserLine> user_lines(const interp::ProgramView& program,
                                 const std::vector<std::string_view>& lines);

}  // namespace hostir::gui
