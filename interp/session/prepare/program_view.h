// The program of a run, as text with positions, for windows and `list`.
//
// Every instruction has a line in `sources`. If the host function was created by lowering, the text
// is the printed program, so that everyone who lowers the same file has the same lines and
// breakpoints. A log without a usable program text has only the list of its instructions: then
// there is no `code`. Immutable, shared by all snapshots of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/passes/prepare/value_names.h"
#include "hostir/support/diagnostic.h"
#include "hostir/support/expected.h"
#include "interp/core/code/code.h"
#include "interp/model/instruction.h"
#include "interp/session/prepare/phase_texts.h"

namespace hostir::interp {

/// A line of a displayed text.
struct TextLine {
  const SourceManager* sources = nullptr;
  uint32_t file = 0;
  uint32_t line = 0;  // 1-based; 0: none
};

/// A line of the user's text and an instruction that was lowered from it.
struct GivenLine {
  uint32_t file = 0;
  uint32_t line = 0;
  CodeIndex code = 0;
  friend auto operator<=>(const GivenLine&, const GivenLine&) = default;
};

/// A span in the text that runs, and its origin in the user's text.
struct SpanMove {
  SourceSpan here;
  SourceSpan there;
};

/// Where a program's instructions are in the texts that the user gave. A log keeps it, so that
/// lines and carets are the same as in the run that was logged.
struct GivenPlaces {
  std::shared_ptr<const SourceManager> texts;  // null: none were given
  /// By CodeIndex: the instruction, or the ops that it was lowered from.
  std::vector<std::vector<SourceSpan>> origins;
  std::vector<SpanMove> moves;  // of instructions and operands, for errors
};

/// Which values of the fusion the buffers of a lowered program hold (hostir/ir/program.h: Origin).
/// A log keeps it, because the text of a program has only names.
struct HeldValues {
  ValueNames names;             // by Origin
  std::vector<Origin> buffers;  // by value of the host function
  struct Written {
    CodeIndex code = 0;
    uint32_t operand = 0;
    Origin value;
  };
  std::vector<Written> written;  // in order of the code
};
/// Of the code of a lowered program.
HeldValues held_values(const Code& code, ValueNames names);

struct RecordedTexts {
  GivenPlaces given;
  std::vector<PhaseText> phases;
  HeldValues held;
};

/// What else the file can run: other functions, other sizes of its meshes.
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
  std::vector<AxisChoice> axes;           // of the function's meshes, except sub-meshes
  std::string function;                   // the chosen one; empty: no alternatives
};

struct ProgramView {
  std::shared_ptr<const Code> code;  // null: only a list of instructions is known
  std::string entry;                 // the host function that all ranks run
  Rank rank_count = 0;
  std::optional<Mesh> world;  // unset: unknown
  /// By CodeIndex. Instructions that flattening added have no mnemonic. `text` is not filled:
  /// `lines` says where it is.
  std::vector<model::Instruction> instructions;
  std::shared_ptr<const SourceManager> sources;
  uint32_t file = 0;            // in `sources`: the text that runs
  std::vector<uint32_t> lines;  // by CodeIndex: 1-based line in `file`, 0 = none
  PhaseTexts phases;            // in order; the last one is the text that runs
  GivenPlaces given;
  RunChoices choices;  // empty for a recorded program

  std::vector<GivenLine> given_lines;  // sorted; several per fused instruction
  bool shows_given = false;            // the host function was written, not lowered

  std::string_view text() const { return sources->text(file); }
  const Mesh* mesh() const { return world ? &*world : nullptr; }
  /// The first instruction with this address (`@mlp.host#9`); an index outside of the program if
  /// there is none.
  CodeIndex find(std::string_view address) const;
  /// `@mlp.host#9`; the entry for an index outside of the program.
  std::string address(CodeIndex index) const {
    return index < instructions.size() ? instructions[index].address : "@" + entry;
  }
  /// Empty for jumps that flattening added, and outside of the program.
  std::string_view mnemonic(CodeIndex index) const {
    return index < instructions.size() ? std::string_view(instructions[index].mnemonic)
                                       : std::string_view();
  }
  /// Where in the given texts an instruction comes from; of several places, the first.
  SourceSpan origin(CodeIndex index) const {
    const bool known = index < given.origins.size() && !given.origins[index].empty();
    return known ? given.origins[index].front() : SourceSpan{};
  }
  /// The displayed position of an instruction: in the user's file if the host function was written
  /// there, else in the lowered text.
  TextLine shown(CodeIndex index) const;
  /// Instructions on a line of the displayed text or, with `name`, of the file with that name (or
  /// whose path ends in it). If the line has none, those of the next line that has some, as in gdb;
  /// for a line of a fusion, the first instruction lowered from it. Empty if there are none.
  std::vector<CodeIndex> at_line(std::string_view name, uint32_t line) const;
};

/// Inputs of make_program_view besides the program.
struct ProgramViewOptions {
  std::string entry;  // host function that runs
  SizeBindings sizes;
  PhaseTexts phases;
  const SourceManager* given = nullptr;     // the spans of the program point into it; copied
  const Program* source = nullptr;          // the program before lowering: what `from` refers to
  const RecordedTexts* recorded = nullptr;  // of a log's program, instead of `given`; copied
  RunChoices choices;
};

/// Prints the program (without its tests) and compiles `entry`. Functions, instructions and values
/// of the code keep their ids; only their spans move, into the printed text.
/// Errors: those of compile_code.
Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               ProgramViewOptions options);

/// Moves the error's positions from the text that runs to the user's text, where they have an
/// origin. Render the result with `sources_of_error`.
Error in_given_text(Error error, const ProgramView& view);
const SourceManager& sources_of_error(const ProgramView& view);

}  // namespace hostir::interp
