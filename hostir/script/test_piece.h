// Runs one `test` piece: its statements in order, against one program.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/edits.h"
#include "hostir/script/test_run.h"

namespace hostir::script {

struct PieceResult {
  std::vector<std::string> failures;
  std::vector<Edit> edits;
  int64_t skipped = 0;  // value expectations under a backend that computes no values
};

/// Runs all statements. `part` is the span of the program's text. A failure does not stop the test,
/// but a `repeat` ends when its run fails.
PieceResult run_piece(const TestPiece& test, const Program& program, SourceSpan part,
                      const SourceManager& sources, const std::string& directory,
                      const TestOptions& options, const interp::BackendFactory& make_backend);

}  // namespace hostir::script
