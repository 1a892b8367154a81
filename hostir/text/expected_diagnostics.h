// Negative scripts: a file states the diagnostics that it must produce.
//
//   // expected-error@+1 {{unknown axis "tq"}}
//   fusion @bad(%a: tensor<4xf32> <@t, [{tq}]>) -> (tensor<4xf32>) { return %a }
//   //                                   ^~
//
// The severity is `error`, `warning` or `note`; an optional `[id]` pins the id. `@+N` and `@-N`
// count lines from the comment; without them, its own line is meant. A comment line with only a
// caret pins the column and width of a diagnostic on the nearest preceding line that is not a caret
// line. Every expected diagnostic must occur, and no other error or warning may. Unexpected notes
// are allowed.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/script.h"
#include "hostir/support/diagnostic.h"

namespace hostir::text {

struct CaretPin {
  int64_t line = 0;     // the line that it points at
  uint32_t column = 0;  // 1-based
  uint32_t width = 0;
};

struct Expectations {
  std::vector<ExpectedDiagnostic> diagnostics;
  std::vector<CaretPin> carets;
  std::vector<int64_t> malformed;  // lines with `expected-` that do not parse
  bool empty() const { return diagnostics.empty() && malformed.empty(); }
};

Expectations read_expectations(const SourceManager& sources, uint32_t file);

struct DiagnosticMismatch {
  int64_t line = 0;
  std::string message;  // "expected error {{...}} did not occur", "unexpected error: ..."
};

/// Compares a file's expected diagnostics with the actual ones; empty if all match.
std::vector<DiagnosticMismatch> check_expected_diagnostics(
    const SourceManager& sources, uint32_t file, const std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::text
