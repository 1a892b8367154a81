// The op table and the documentation page of an op, generated from the records.
//
// `hostir ops` prints them. The README has the markdown table, and a test compares the two.
#pragma once

#include <string>

#include "hostir/ops/record.h"

namespace hostir {

enum class TableFormat : uint8_t { kText, kMarkdown };

/// All ops in the order of ops.def: mnemonic, kind, operands, attributes, summary.
std::string ops_table(TableFormat format);

/// `ro`, `wo`, `rw`; empty for a plain use.
std::string_view access_word(Access access);

/// Everything that the record says, in STYLE's order: sentence; Shapes; Sharding; Dtypes; Errors
/// (the constraints); Cost; Source; then operands, attributes and the example. Plain text, 100
/// columns.
std::string op_documentation(OpKind kind);

}  // namespace hostir
