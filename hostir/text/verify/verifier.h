// Static checks of a program, and type inference.
//
// The verifier checks symbols, attributes, constraints and types (using op records), shardings
// against meshes, and the structure of host functions. Each rule has an id and a sentence in
// `text_constraints()` or in the op's record; the negative script of a rule is named after its id.
// The verifier fills in result types, so a verified program has no NoType. Verifying again changes
// nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir::text {

struct TextConstraint {
  std::string_view id;
  std::string_view text;  // the requirement, in one sentence
};
/// All rules of parser and verifier, in documentation order. Op-specific rules are in the op
/// records.
std::span<const TextConstraint> text_constraints();

/// The diagnostics, in the order found; empty if the program is valid. With `sources`, carets point
/// at the axis inside a sharding; without, at the whole sharding.
std::vector<Diagnostic> verify(Program& program, const SourceManager* sources = nullptr);

}  // namespace hostir::text
