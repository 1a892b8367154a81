// The program's text in editable form: every host instruction with its lines.
//
// Internal to the search (what_if.h). Instructions are identified by function and preorder index,
// which are stable under printing and parsing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"
#include "interp/core/code/code.h"
#include "interp/session/what_if/line_edit.h"

namespace hostir::interp::what_if_parts {

/// An instruction of the text.
struct InstructionSite {
  const Function* function = nullptr;
  InstrId instr;
  bool valid() const { return function != nullptr; }
  friend bool operator==(const InstructionSite& a, const InstructionSite& b) {
    return a.function == b.function && a.instr == b.instr;
  }
};

struct Node {
  InstructionSite parent;  // enclosing for, where or group; not valid: the function's body
  size_t branch = 0;       // region index in the parent
  size_t index = 0;        // including its regions
  LineRange lines;         // all of it, regions included
};

/// A word of an instruction's line: `sum`, `%c`, `peer((coord(x) + 1) % 3)`.
struct Word {
  size_t begin = 0;  // column in the line
  std::string text;
};

class EditableProgram {
 public:
  /// `origins`: for an edited text, the original line of each line (LineEdit::origins).
  /// Errors: those of the text; `no_function`.
  static Expected<EditableProgram> create(std::string text, const std::string& function,
                                          std::vector<size_t> origins = {});
  EditableProgram(EditableProgram&&) = default;
  EditableProgram& operator=(EditableProgram&&) = default;

  const std::string& text() const { return text_; }
  /// True if the text was reprinted to have one instruction per line.
  bool reformatted() const { return reformatted_; }
  const std::vector<std::string>& lines() const { return lines_; }
  const Program& program() const { return file_->parts[part_]; }

  std::optional<InstructionSite> find(const Code& code, CodeIndex index) const;
  const Instruction& at(const InstructionSite& spot) const {
    return spot.function->instr(spot.instr);
  }
  const Node& node(const InstructionSite& spot) const;
  /// The instructions of the region that contains it, in order.
  std::vector<InstructionSite> siblings(const InstructionSite& spot) const;
  /// What is issued as one: the enclosing group, or the instruction itself.
  InstructionSite unit(const InstructionSite& spot) const;
  bool communicates(const InstructionSite& spot) const;  // is or contains communication
  bool is_call(const InstructionSite& spot) const;       // is a communication, or a group of them
  int indent(const InstructionSite& spot) const;         // columns
  /// 1-based lines for sentences: `line 14`, `lines 14-16`. In an edited text these are the
  /// original lines, or `line 14 after the first edit` for new lines.
  std::string where(LineRange lines) const;
  std::string where(const InstructionSite& spot) const { return where(node(spot).lines); }
  std::string where_line(size_t line) const { return where(LineRange{line, line}); }
  /// Its first words: `all_reduce sum %c`, `wait %e`.
  std::string short_text(const InstructionSite& spot) const;
  /// Both as `all_reduce sum %c (line 14)`. If their first words are the same, adds words until
  /// they differ, or gives only the lines.
  std::pair<std::string, std::string> told_apart(const InstructionSite& a,
                                                 const InstructionSite& b) const;
  /// Like told_apart() without the lines; equal texts if nothing tells them apart.
  std::pair<std::string, std::string> texts_apart(const InstructionSite& a,
                                                  const InstructionSite& b) const;
  /// The words of its line, without comment; empty if it has several lines.
  std::vector<Word> words(const InstructionSite& spot) const;

 private:
  EditableProgram() = default;
  Expected<void> read(const std::string& function);
  void add_nodes(const Function& function, RegionId region, InstructionSite parent, size_t branch);
  bool one_per_line() const;

  std::string text_;
  std::vector<std::string> lines_;
  std::vector<size_t> starts_;   // byte offset of each line
  std::vector<size_t> origins_;  // of each line; empty: the text is the original
  std::shared_ptr<const SourceFileProgram> file_;
  size_t part_ = 0;
  std::vector<std::pair<const Function*, std::vector<Node>>> nodes_;  // by InstrId
  bool reformatted_ = false;
};

}  // namespace hostir::interp::what_if_parts
