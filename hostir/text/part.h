// One part of a file, passed from the parser to the verifier.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hostir/text/parse/parse_function.h"

namespace hostir::text {

/// Information from the text of a part that is not in its Program. Empty for a program that was not
/// parsed from text.
struct PartNotes {
  std::vector<FunctionNotes> functions;  // by index in the program; may be shorter
  std::set<std::string> broken_symbols;  // declared in pieces that do not parse
};

struct ParsedPart {
  Program program;
  PartNotes notes;
};

ParsedPart parse_part(const SourceManager& sources, SourceSpan part,
                      std::vector<Diagnostic>& diagnostics);

/// verify() of verifier.h, with the parser's notes.
void verify_part(Program& program, const PartNotes& notes, const SourceManager* sources,
                 std::vector<Diagnostic>& diagnostics);

}  // namespace hostir::text
