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
#include "hostir/support/expected.h"
#include "interp/core/code.h"

namespace hostir::interp {

/// One phase of the compiler: `fusion`, `propagate`, ..., `host`.
struct PhaseText {
  std::string name;
  std::string text;
};

/// A line of a text that a person reads.
struct TextLine {
  const SourceManager* sources = nullptr;
  uint32_t file = 0;
  uint32_t line = 0;  // 1-based; 0: none
};

/// A line of the user's text and an instruction that comes from it.
struct GivenLine {
  uint32_t file = 0;
  uint32_t line = 0;
  CodeIndex code = 0;
  friend auto operator<=>(const GivenLine&, const GivenLine&) = default;
};

/// A place in the text that was printed and read back, and where that comes from in the user's.
struct SpanMove {
  SourceSpan here;
  SourceSpan there;
};

/// What else the file could run, and how: other functions, other sizes of its meshes.
struct RunChoices {
  struct FunctionChoice {
    std::string name;  // without '@'
    bool fusion = false;
  };
  struct AxisChoice {
    std::string mesh;  // without '@'
    std::string axis;
    int64_t size = 1;
  };
  std::vector<FunctionChoice> functions;  // in order of the text
  std::vector<AxisChoice> axes;           // of the function's meshes, but for parts of others
  std::string function;                   // that was chosen; empty: nothing else can be run
};

struct ProgramView {
  std::shared_ptr<const Code> code;
  std::shared_ptr<const SourceManager> sources;
  uint32_t file = 0;                           // in `sources`: the text that runs
  std::vector<uint32_t> lines;                 // by CodeIndex: 1-based line in `file`, 0 = none
  std::vector<PhaseText> phases;               // in order; the last one is the text that runs
  std::shared_ptr<const SourceManager> given;  // the texts as the user gave them, or null
  std::vector<SourceSpan> origins;             // by CodeIndex: where in `given` it comes from
  std::vector<SpanMove> moves;                 // of instructions and operands, for errors

  RunChoices choices;  // empty for a recorded program

  std::vector<GivenLine> given_lines;  // sorted; several for what was fused
  bool shows_given = false;  // the host function stands in `given`: it was not made by lowering

  std::string_view text() const { return sources->text(file); }
  /// Where a debugger says that an instruction stands: in the user's file if the host function was
  /// written there, else in the lowered text.
  TextLine shown(CodeIndex index) const;
  /// Code instructions on a line of the text that is shown or, with `name`, of the file of that
  /// name (or whose path ends so). Where nothing stands on the line, those of the next line with
  /// some, as in gdb; of a fusion's line, the first that comes from it. Empty: there are none.
  std::vector<CodeIndex> at_line(std::string_view name, uint32_t line) const;
};

/// What make_program_view knows beside the program.
struct ProgramViewOptions {
  std::string entry;  // host function that runs
  SizeBindings sizes;
  std::vector<PhaseText> phases;
  const SourceManager* given = nullptr;  // the spans of the program point into it; copied
  const Program* source = nullptr;       // the program before lowering: what `from` refers to
  RunChoices choices;
};

/// Prints the program (without its tests), reads it back for positions, and compiles `entry` of
/// what was read. Errors: those of compile_code; a text that does not read back (a bug) as
/// kInvalid.
Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               ProgramViewOptions options);

/// The error with its positions moved from the text that runs to the text that the user gave,
/// where it has them; `sources_of_error` then says what it is rendered with.
Error in_given_text(Error error, const ProgramView& view);
const SourceManager& sources_of_error(const ProgramView& view);

}  // namespace hostir::interp
