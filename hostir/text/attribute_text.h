// Parsing and printing of attributes, by their type in the op's record.
#pragma once

#include <optional>
#include <string>

#include "hostir/ops/record.h"
#include "hostir/text/parse/cursor.h"

namespace hostir::text {

enum class ListBrackets : uint8_t { kWritten, kLeftOut };

/// Parses an attribute of this type. Reports `op_c4` if a word is not in the fixed set.
std::optional<Attribute> parse_attribute(Cursor& cursor, const SourceManager& sources,
                                         const AttributeSpec& spec, ListBrackets brackets);
/// True if a value of this type may start with this token.
bool starts_attribute(const Token& token, const AttributeSpec& spec);
std::string print_attribute(const Attribute& attribute, ListBrackets brackets);

/// Parses `2:5, :, %i` into two lists. `:` gives 0 and -1 (to the end); `%i` alone means
/// `%i:%i + 1`.
bool parse_ranges(Cursor& cursor, ExprList& lower, ExprList& upper);
/// True if no range takes more than one index.
bool are_single_indices(const ExprList& lower, const ExprList& upper);
/// True for an op that takes an element or ranges: its upper bounds are optional.
bool takes_elements(const OpRecord& op, std::string_view upper);
/// `single_index` says whether the range of one index is `%i:%i + 1` or `%i`.
enum class SingleIndex : uint8_t { kAsRange, kAlone };
std::string print_ranges(const ExprList& lower, const ExprList& upper, SingleIndex single_index);

/// Lists of integers: `[0, 1]`, `[[0,1],[2,3]]`.
std::optional<IntList> parse_int_list(Cursor& cursor);
std::string print_int_list(const IntList& list);
std::string print_int_lists(const IntLists& lists);

}  // namespace hostir::text
