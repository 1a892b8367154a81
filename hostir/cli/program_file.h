// Loading a `.hir` file for a verb: read, parse, verify, choose the function.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::cli {

struct LoadedFile {
  SourceManager sources;
  SourceFileProgram file;
  std::vector<Diagnostic> diagnostics;  // of parsing and verifying, in order of position
  bool parsed = false;                  // no error of the grammar
};

/// Errors: the file cannot be read. Bad text is in `diagnostics`.
Expected<LoadedFile> load_file(const std::string& path);

/// The same for a text that is not (yet) in a file.
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

}  // namespace hostir::cli
