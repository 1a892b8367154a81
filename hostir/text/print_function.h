// The parts of the printer.
#pragma once

#include <string>
#include <vector>

#include "hostir/text/assembly.h"
#include "hostir/text/derived.h"
#include "hostir/text/printer.h"

namespace hostir::text {

inline constexpr size_t kLineWidth = 100;

/// Appends comment lines; "" is a blank line.
void append_comments(std::string& out, const std::vector<std::string>& lines, size_t indent);
void append_documentation(std::string& out, const std::vector<std::string>& lines);
/// ` // text`; empty if there is no text.
std::string trailing_comment(const std::string& text);

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

 private:
  enum class Regions : uint8_t { kFull, kElided };

  std::string signature() const;
  std::string parameter(const Parameter& parameter) const;
  std::string results() const;
  void region_body(std::string& out, const Region& region, size_t indent);
  void instruction(std::string& out, InstrId id, size_t indent);
  std::string instruction_text(const Instruction& instruction, size_t indent);
  std::string generic_form(const Instruction& instruction) const;
  std::string elements(const Instruction& i, const std::vector<Element>& list, size_t indent);
  std::string element(const Instruction& i, const Element& element, size_t indent);
  bool present(const Instruction& i, const Element& element) const;
  bool present_group(const Instruction& i, const std::vector<Element>& list) const;
  std::string operands(const Instruction& i, const Element& element) const;
  std::string operand(const Operand& operand) const;
  std::string attribute(const Instruction& i, std::string_view name) const;
  std::string types(const Instruction& i) const;
  std::string binding(const Instruction& i, uint8_t slot) const;
  std::string attribute_list(const Instruction& i, const std::vector<Element>& list) const;
  std::string from_list(const Instruction& i) const;

  const Function& function_;
  std::optional<Derived> derived_;
  Regions regions_ = Regions::kFull;
  size_t next_region_ = 0;  // in the instruction being printed
  size_t next_region_argument_ = 0;
};

std::string print_test(const TestPiece& test);
std::string print_mesh(const Mesh& mesh);
std::string print_machine(const Machine& machine, MachineFields fields);

}  // namespace hostir::text
