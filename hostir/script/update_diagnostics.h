// `test --update` for negative scripts: the text between {{ and }} of an `expected-error` comment
// becomes what the diagnostic on that line says. Carets are a person's to move.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/edits.h"
#include "hostir/support/diagnostic.h"

namespace hostir::script {

std::vector<Edit> diagnostic_edits(const SourceManager& sources, uint32_t file,
                                   const std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::script
