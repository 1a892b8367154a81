// The program that a session runs, as text with positions: what windows and `list` show.
//
// Every instruction of the code has a line in `sources`; where the host function was made by
// lowering, the text is the printed program, so that lines and breakpoints are the same for
// everyone who lowers the same file. Immutable, shared by all snapshots of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hostir/support/diagnostic.h"
#include "interp/core/code.h"

namespace hostir::interp {

/// One phase of the compiler: `fusion`, `propagate`, ..., `host`.
struct PhaseText {
  std::string name;
  std::string text;
};

struct ProgramView {
  std::shared_ptr<const Code> code;
  std::shared_ptr<const SourceManager> sources;
  uint32_t file = 0;              // in `sources`: the text that runs
  std::vector<uint32_t> lines;    // by CodeIndex: 1-based line in `file`, 0 = none
  std::vector<PhaseText> phases;  // in order; the last one is the text that runs

  std::string_view text() const { return sources->text(file); }
  /// Code instructions whose text starts on this line.
  std::vector<CodeIndex> at_line(uint32_t line) const;
};

/// Prints the program (without its tests), reads it back for positions, and compiles `entry` of
/// what was read. Errors: those of compile_code; a text that does not read back (a bug) as
/// kInvalid.
Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               const std::string& entry,
                                                               const SizeBindings& sizes,
                                                               std::vector<PhaseText> phases);

}  // namespace hostir::interp
