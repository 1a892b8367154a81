// Negative scripts: the diagnostics that a text must give stand in the text.
//
//   // expected-error@+1 {{unknown axis "tq"}}
//   fusion @bad(%a: tensor<4xf32> <@t, [{tq}]>) -> (tensor<4xf32>) { return %a }
//   //                                   ^~
//
// `error`, `warning` or `note`; `[id]` after it pins the id; `@+N` and `@-N` count lines from the
// comment, without them its own line is meant. A comment line of nothing but a caret pins caret and
// width of a diagnostic on the nearest line above that is no such line. Every expected diagnostic
// must occur and no other error or warning may; notes may occur unexpected.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/script.h"
#include "hostir/support/diagnostic.h"

namespace hostir::text {

struct CaretPin {
  int64_t line = 0;     // of the text that it points at
  uint32_t column = 0;  // 1-based
  uint32_t width = 0;
};

struct Expectations {
  std::vector<ExpectedDiagnostic> diagnostics;
  std::vector<CaretPin> carets;
  std::vector<int64_t> malformed;  // lines with `expected-` that could not be read
  bool empty() const { return diagnostics.empty() && malformed.empty(); }
};

Expectations read_expectations(const SourceManager& sources, uint32_t file);

struct DiagnosticMismatch {
  int64_t line = 0;
  std::string message;  // "expected error {{...}} did not occur", "unexpected error: ..."
};

/// Compares what a file expects with what it gave; empty: all is as expected.
std::vector<DiagnosticMismatch> check_expected_diagnostics(
    const SourceManager& sources, uint32_t file, const std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::text
