// The program of a test that changes lines of its part: `change {{line}} to {{line}}`.
//
// A changed program is the part's text without its tests, with those lines replaced, parsed again.
// A faulty program and its repaired twin then differ visibly, and only there.
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::script {

/// The text of a part without its tests. `span` is that of the part.
std::string declarations(const Program& part, SourceSpan span, const SourceManager& sources);

/// The text after a change. Error: `test_change` unless exactly one place has the lines.
Expected<std::string> changed(std::string_view text, const ChangeStatement& change);

/// The program that a run of the test uses.
/// Errors: those of the parser; `test_change` if the function of the run is gone or takes other
/// parameters.
Expected<Program> changed_program(const std::string& text, const RunStatement& run);

}  // namespace hostir::script
