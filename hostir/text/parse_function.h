// Fusions, kernels and host functions: signature, regions, instructions.
//
// Names are resolved here, by lexical scope, which is also the rule of dominance: a name is visible
// from the instruction after its definition to the end of its region. A name that does not resolve
// is reported once and becomes a value of unknown type, so that what follows is still checked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostir/text/assembly.h"
#include "hostir/text/attribute_text.h"
#include "hostir/text/cursor.h"

namespace hostir::text {

/// `gradient @g of @f wrt(%a, %b)`: the verifier makes the body.
struct GradientNote {
  std::string of;
  std::vector<std::string> wrt;
  SourceSpan span;  // of @f
};

/// What the text of a function says beyond the Function.
struct FunctionNotes {
  bool broken = false;                 // something was left out after an error
  std::vector<ValueId> sharding_only;  // results with a written sharding but no written type
  std::vector<ValueId> literals;       // constants written as numbers: their use gives the type
  std::optional<GradientNote> gradient;
};

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, const SourceManager& sources, Function& function,
                 FunctionNotes& notes)
      : cursor_(cursor), sources_(sources), function_(function), notes_(notes) {}

  /// Everything after the keyword. False if the signature could not be read; the body is skipped
  /// then.
  bool parse();

 private:
  struct NewName {
    std::string name;
    SourceSpan span;
  };
  struct Draft;  // an instruction while it is read

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
