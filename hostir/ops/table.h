// The op table and the page of one op, generated from the records.
//
// `hostir ops` prints them, the README holds the markdown table, and a test compares that with
// this.
#pragma once

#include <string>

#include "hostir/ops/record.h"

namespace hostir {

enum class TableFormat : uint8_t { kText, kMarkdown };

/// Every op in the order of ops.def: mnemonic, kind, operands, attributes, summary.
std::string ops_table(TableFormat format);

/// Everything that the record says, in STYLE's order: sentence; Shapes; Sharding; Dtypes; Errors;
/// Cost; Source; then operands, attributes, constraints and the example. Plain text, 100 columns.
std::string op_documentation(OpKind kind);

}  // namespace hostir
