// Attributes in text, by the type that the op's record gives them.
#pragma once

#include <optional>
#include <string>

#include "hostir/ops/record.h"
#include "hostir/text/cursor.h"

namespace hostir::text {

enum class ListBrackets : uint8_t { kWritten, kLeftOut };

/// The value of an attribute of this type; reports `op_c4` where a word is not in its fixed set.
std::optional<Attribute> parse_attribute(Cursor& cursor, const SourceManager& sources,
                                         const AttributeSpec& spec, ListBrackets brackets);
/// True where a value of this type may start.
bool starts_attribute(const Token& token, const AttributeSpec& spec);
std::string print_attribute(const Attribute& attribute, ListBrackets brackets);

/// `2:5, :, %i` into two lists; `:` is 0 and -1 (to the end), `%i` alone is `%i:%i + 1`.
bool parse_ranges(Cursor& cursor, ExprList& lower, ExprList& upper);
std::string print_ranges(const ExprList& lower, const ExprList& upper);

/// Lists of integers: `[0, 1]`, `[[0,1],[2,3]]`.
std::optional<IntList> parse_int_list(Cursor& cursor);
std::string print_int_list(const IntList& list);
std::string print_int_lists(const IntLists& lists);

}  // namespace hostir::text
