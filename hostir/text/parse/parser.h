// Parses text into programs.
//
// `parse` reads a whole file, resolves names, infers types and does all static checks (verifier.h).
// It always returns; it skips and reports anything invalid, with several diagnostics per file. The
// program of a part that is `ok` is complete and verified. Any input is safe: nesting, numbers and
// lengths are limited.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::text {

struct ParsedFile {
  SourceFileProgram file;
  std::vector<Diagnostic> diagnostics;  // in text order
  std::vector<SourceSpan> parts;        // the span of each part, without the `// -----` lines

  /// True if there is no error in the file, or in one part.
  bool ok() const;
  bool ok(size_t part) const;
};

ParsedFile parse(const SourceManager& sources, uint32_t file);

/// Parses a file; if it has errors, returns all its diagnostics as a kInvalid error.
Expected<SourceFileProgram> load(const SourceManager& sources, uint32_t file);

/// Parses a text with one part, for passes and tests. The source is not kept, so the messages of an
/// error include the line.
Expected<Program> parse_program(std::string text);

}  // namespace hostir::text
