// The parts of the printer.
#pragma once

#include <string>
#include <vector>

#include "hostir/text/assembly.h"
#include "hostir/text/print/derived.h"
#include "hostir/text/print/printer.h"

namespace hostir::text {

inline constexpr size_t kLineWidth = 100;

/// Appends comment lines; "" is a blank line.
void append_comments(std::string& out, const std::vector<std::string>& lines, size_t indent);
void append_documentation(std::string& out, const std::vector<std::string>& lines);
/// ` // text`; empty if there is no text.
std::string trailing_comment(const std::string& text);

/// Places of instructions and operands in a text under construction. Texts are built from the
/// inside out, so offsets are relative to the innermost text, and shift when it is appended.
class PrintedPlaces {
 public:
  struct Place {
    enum class Kind : uint8_t { kInstruction, kMnemonic, kOperand };
    Kind kind;
    uint32_t instruction;  // index in Function::instructions
    uint32_t operand;      // kOperand: index in Instruction::operands
    size_t begin, end;
  };

  void note(Place place) { places_.push_back(place); }
  size_t count() const { return places_.size(); }
  /// Shifts all places noted since there were `first`.
  void shift(size_t first, size_t offset);
  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<Place> places_;
};

class FunctionPrinter {
 public:
  FunctionPrinter(const Program* program, const Function& function, const PrintOptions& options)
      : function_(function),
        derived_(program && options.derived == DerivedComments::kAll
                     ? std::optional<Derived>(std::in_place, *program, function)
                     : std::nullopt) {}

  std::string print();
  /// The instruction on one line, without comments, with regions as `{ ... }`.
  std::string line(const Instruction& instruction);
  /// Sets the spans of a copy of the printed function. `begin`: where print()'s text begins.
  void locate(Function& copy, uint32_t file, size_t begin) const;

 private:
  enum class Regions : uint8_t { kFull, kElided };

  std::string signature() const;
  std::string parameter(const Parameter& parameter) const;
  std::string results() const;
  void region_body(std::string& out, const Region& region, size_t indent);
  void instruction(std::string& out, InstrId id, size_t indent);
  std::string instruction_text(const Instruction& instruction, size_t indent);
  std::string generic_form(const Instruction& instruction);
  std::string elements(const Instruction& i, const std::vector<Element>& list, size_t indent);
  std::string element(const Instruction& i, const Element& element, size_t indent);
  bool present(const Instruction& i, const Element& element) const;
  bool present_group(const Instruction& i, const std::vector<Element>& list) const;
  std::string operands(const Instruction& i, const Element& element);
  std::string operand(const Operand& operand) const;
  void append_operand(std::string& out, const Instruction& i, const Operand& operand);
  void note(PrintedPlaces::Place::Kind kind, const Instruction& i, size_t begin, size_t end,
            size_t operand = 0);
  std::string attribute(const Instruction& i, std::string_view name) const;
  std::string types(const Instruction& i) const;
  std::string binding(const Instruction& i, uint8_t slot);
  std::string attribute_list(const Instruction& i, const std::vector<Element>& list) const;
  std::string from_list(const Instruction& i) const;

  const Function& function_;
  std::optional<Derived> derived_;
  Regions regions_ = Regions::kFull;
  size_t next_region_ = 0;  // in the instruction being printed
  size_t next_region_argument_ = 0;
  PrintedPlaces places_;
  size_t signature_ = 0;  // where it begins in the text of print()
  size_t end_ = 0;        // after the closing brace
};

std::string print_test(const TestPiece& test);
std::string print_mesh(const Mesh& mesh);
std::string print_machine(const Machine& machine, MachineFields fields);

}  // namespace hostir::text
