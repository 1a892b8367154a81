// From text to programs.
//
// `parse` reads a whole file, resolves names, infers types and checks everything that can be
// checked without running (verifier.h). It always returns: what could not be understood is left out
// and reported, several diagnostics per file. A program of a part that is `ok` is complete and
// verified. Input of any kind is safe: nesting, numbers and lengths are limited.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::text {

struct ParsedFile {
  SourceFileProgram file;
  std::vector<Diagnostic> diagnostics;  // in the order of the text
  std::vector<SourceSpan> parts;        // the bytes of each part, `// -----` lines apart

  /// No error in the file, or in one part of it.
  bool ok() const;
  bool ok(size_t part) const;
};

ParsedFile parse(const SourceManager& sources, uint32_t file);

/// The file's programs, or all its diagnostics as an error of kind kInvalid.
Expected<SourceFileProgram> load(const SourceManager& sources, uint32_t file);

/// A text of one part, for passes and tests; the diagnostics of an error are positioned in a file
/// that is gone, so their messages carry the line.
Expected<Program> parse_program(std::string text);

}  // namespace hostir::text
