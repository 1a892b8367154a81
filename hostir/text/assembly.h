// The syntax of an op, compiled from the `assembly` string of its record.
//
// Parser and printer use the same list of elements, so they always agree. README.md, section
// "assembly", defines the grammar of these strings. No op has its own parsing code.
#pragma once

#include <string_view>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir::text {

struct Element {
  enum class Kind : uint8_t {
    kLiteral,         // a word or punctuation mark
    kOperands,        // $slot: the operands of a slot
    kAttribute,       // #name: an attribute by its type
    kRanges,          // #lo:#hi: two expression lists as `a:b, c:d`
    kType,            // type: the written types of the results
    kRegionArgument,  // &name: a loop variable
    kRegionBinding,   // &=$slot: region arguments bound to the operands of a slot
    kRegion,          // region: `{ ... }`
    kOptional,        // < ... >: the children are all present or all absent
  };
  Kind kind = Kind::kLiteral;
  std::string_view text;    // the literal, the attribute name, or the word for an absent operand
  std::string_view second;  // kRanges: the attribute with the upper ends
  uint8_t slot = 0;
  bool space_before = false;
  std::vector<Element> children;
};

/// The elements of the op's assembly; empty for the generic form.
const std::vector<Element>& assembly(OpKind kind);
/// Compiles one string. Unknown slots and attributes become literals, which a unit test rejects.
std::vector<Element> compile_assembly(std::string_view text, const OpRecord& op);
/// True if the assembly includes this attribute. All others are written as `{name = value}`.
bool assembly_mentions(const std::vector<Element>& elements, std::string_view attribute);

}  // namespace hostir::text
