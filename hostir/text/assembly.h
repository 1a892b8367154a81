// The written form of an op, compiled from the `assembly` string of its record.
//
// Parser and printer walk the same list of elements, so what one reads the other writes. The small
// grammar of these strings stands in README.md, section "assembly". No op has code of its own.
#pragma once

#include <string_view>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir::text {

struct Element {
  enum class Kind : uint8_t {
    kLiteral,         // a word or mark, as it stands
    kOperands,        // $slot: the operands of a slot
    kAttribute,       // #name: an attribute by its type
    kRanges,          // #lo:#hi: two expression lists as `a:b, c:d`
    kType,            // type: written types of the results
    kRegionArgument,  // &name: a loop variable
    kRegionBinding,   // &=$slot: region arguments bound to the operands of a slot
    kRegion,          // region: `{ ... }`
    kOptional,        // < ... >: children, present or not as a whole
  };
  Kind kind = Kind::kLiteral;
  std::string_view text;    // of a literal; attribute name; word for an absent operand
  std::string_view second;  // of ranges: the attribute with the upper ends
  uint8_t slot = 0;
  bool space_before = false;
  std::vector<Element> children;
};

/// The elements of the op's assembly; empty: the generic form.
const std::vector<Element>& assembly(OpKind kind);
/// Compiles one string; unknown slots and attributes become literals, which the unit test rejects.
std::vector<Element> compile_assembly(std::string_view text, const OpRecord& op);
/// True if the assembly writes this attribute; all others go to `{name = value}`.
bool assembly_mentions(const std::vector<Element>& elements, std::string_view attribute);

const AttributeSpec* find_attribute_spec(const OpRecord& op, std::string_view name);

}  // namespace hostir::text
