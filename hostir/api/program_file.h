// Loading a program: read, import what another compiler wrote, parse, verify, choose the
// function.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::api {

struct LoadedFile {
  SourceManager sources;
  SourceFileProgram file;
  std::vector<Diagnostic> diagnostics;  // of parsing and verifying, in order of position
  bool parsed = false;                  // no error of the grammar
  bool imported = false;                // the text is not the file's: it was StableHLO or HLO
  std::string import_notes;             // what the import left out or guessed; lines
};

/// Errors: the file cannot be read. Bad text is in `diagnostics`.
Expected<LoadedFile> load_file(const std::string& path);

/// The same for a text that is not (yet) in a file. StableHLO and HLO become our text first, which
/// from then on is the source; what could not be imported is an error in the given text.
LoadedFile load_text(const std::string& name, std::string text);

/// The part that has the function (`@f` or empty for the first part's main function). Errors:
/// `no_function`, and the file's own errors as kInvalid.
struct ChosenFunction {
  const Program* program = nullptr;
  std::string name;  // without '@'
};
Expected<ChosenFunction> choose_function(const LoadedFile& file, const std::string& function);

/// `a=1` pairs of `--mesh` and `--size`, also comma-separated. Errors: kUsage.
Expected<std::vector<std::pair<std::string, int64_t>>> parse_sizes(
    const std::vector<std::string>& items, const std::string& option);

}  // namespace hostir::api
