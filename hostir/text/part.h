// One part of a file between parser and verifier.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hostir/text/parse_function.h"

namespace hostir::text {

/// What the text of a part says beyond its Program; empty for programs that no text was read for.
struct PartNotes {
  std::vector<FunctionNotes> functions;  // by index in the program; may be shorter
  std::set<std::string> broken_symbols;  // declared in pieces that could not be read
};

struct ParsedPart {
  Program program;
  PartNotes notes;
};

ParsedPart parse_part(const SourceManager& sources, SourceSpan part,
                      std::vector<Diagnostic>& diagnostics);

/// verifier.h, with what the parser knows.
void verify_part(Program& program, const PartNotes& notes, const SourceManager* sources,
                 std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::text
