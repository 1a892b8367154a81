// `test --update` for negative scripts: replaces the text between {{ and }} of an `expected-error`
// comment with the message of the diagnostic on that line. Carets must be moved by hand.
#pragma once

#include <vector>

#include "hostir/script/edits.h"
#include "hostir/support/diagnostic.h"

namespace hostir::script {

std::vector<Edit> diagnostic_edits(const SourceManager& sources, uint32_t file,
                                   const std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::script
