// Static checks of a program, and the types that follow from them.
//
// Everything that can be said without running: symbols, attributes, constraints and types by the
// ops' records, shardings against meshes, the structure of host functions. Each rule has an id and
// a sentence in `text_constraints()` (or in the op's record); negative scripts bear the id as their
// name. Types of results are filled in, so a verified program has no NoType left. Verifying twice
// changes nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir::text {

struct TextConstraint {
  std::string_view id;
  std::string_view text;  // what must hold, one sentence
};
/// All rules of parser and verifier, in the order of the documentation. The ops' own stand in their
/// records.
std::span<const TextConstraint> text_constraints();

/// Diagnostics in the order in which they were found; empty: the program is valid. With `sources`
/// carets point at the axis inside a sharding, without it at the whole.
std::vector<Diagnostic> verify(Program& program, const SourceManager* sources = nullptr);

}  // namespace hostir::text
