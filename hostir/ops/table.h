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

/// The whole record as plain text, 100 columns wide: sentence; Shapes; Sharding; Dtypes; Errors;
/// Cost; Source; then operands, attributes, constraints and the example.
std::string op_documentation(OpKind kind);

}  // namespace hostir
