// Fusions, kernels and host functions: signature, regions, instructions.
//
// The parser resolves names by lexical scope, which is also the dominance rule: a name is visible
// from the instruction after its definition to the end of its region. An unresolved name is
// reported once and becomes a value of unknown type, so that later instructions are still checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostir/text/assembly.h"
#include "hostir/text/attribute_text.h"
#include "hostir/text/parse/cursor.h"

namespace hostir::text {

/// `gradient @g of @f wrt(%a, %b)`; the verifier builds the body.
struct GradientNote {
  std::string of;
  std::vector<std::string> wrt;
  SourceSpan span;  // of @f
};

/// Information from the text of a function that is not in the Function.
struct FunctionNotes {
  bool broken = false;                 // something was skipped after an error
  std::vector<ValueId> sharding_only;  // results with a written sharding but no written type
  struct Literal {
    double number = 0;
    SourceSpan span;
  };
  // Constants written as numbers, by index of their value. The use determines their type, and they
  // get names that no value of the text has.
  std::map<uint32_t, Literal> literals;
  std::optional<GradientNote> gradient;
};

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, const SourceManager& sources, Function& function,
                 FunctionNotes& notes)
      : cursor_(cursor), sources_(sources), function_(function), notes_(notes) {}

  /// Parses everything after the keyword. If the signature does not parse, skips the body and
  /// returns false.
  bool parse();

 private:
  struct NewName {
    std::string name;
    SourceSpan span;
  };
  struct Draft;  // a partly parsed instruction

  void name_literals();
  bool parse_signature();
  void parse_parameter();
  bool parse_results();
  bool parse_result();
  bool parse_region(RegionId region, const std::vector<NewName>& arguments);
  void parse_region_body(RegionId region);

  bool parse_instruction(RegionId region);
  bool parse_result_names(Draft& draft);
  bool parse_mnemonic(Draft& draft);
  bool parse_generic_form(Draft& draft);
  bool parse_elements(Draft& draft, const std::vector<Element>& elements);
  bool parse_element(Draft& draft, const Element& element);
  bool starts_element(const Draft& draft, const Element& element) const;
  bool parse_operands(Draft& draft, const Element& element);
  bool parse_literal(Draft& draft, Operand operand);
  bool parse_access_clause(Draft& draft, uint8_t slot, Access access);
  bool parse_operand(Draft& draft, uint8_t slot, Access access);
  bool parse_attribute_value(Draft& draft, const AttributeSpec& spec, ListBrackets brackets);
  bool parse_ranges_element(Draft& draft, const Element& element);
  bool parse_region_binding(Draft& draft, uint8_t slot);
  bool parse_written_types(Draft& draft);
  bool parse_attribute_list(Draft& draft);
  bool parse_attribute_entry(Draft& draft);
  bool parse_from(Draft& draft);
  void finish(Draft& draft, RegionId region);
  void normalise_attributes(Instruction& instruction) const;

  std::optional<ValueId> lookup(std::string_view name) const;
  ValueId resolve(std::string_view name, SourceSpan span);
  ValueId declare(const NewName& name, Type type);
  void check_names(const Attribute& attribute, SourceSpan span);
  void check_names(const Type& type, SourceSpan span);
  void check_names(const IndexExpr& expr, SourceSpan span);
  const std::string& mesh_of(ValueId value) const;

  Cursor& cursor_;
  const SourceManager& sources_;
  Function& function_;
  FunctionNotes& notes_;
  std::vector<std::map<std::string, ValueId, std::less<>>> scopes_;
};

}  // namespace hostir::text
