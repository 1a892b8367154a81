// Loads a program: reads it, imports StableHLO or HLO, parses, verifies, and chooses the function.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/import/import_options.h"
#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir::api {

struct LoadedFile {
  SourceManager sources;
  SourceFileProgram file;
  std::vector<Diagnostic> diagnostics;  // of parsing and verifying, sorted by position
  bool parsed = false;                  // there are no syntax errors
  bool imported = false;                // the file has StableHLO or HLO, and the text was converted
  std::string import_notes;             // lines on what the import skipped or guessed
  // The indices of the real parts: a complex parameter or result of the module is two of the
  // program, the real part first.
  std::vector<size_t> complex_params;
  std::vector<size_t> complex_results;
  std::string unfinished;  // the result that is true if the import unrolled too little
};

/// `options`: for StableHLO and HLO.
/// Errors: the file cannot be read. Errors in the program are in `diagnostics`.
Expected<LoadedFile> load_file(const std::string& path,
                               const importer::ImportOptions& options = {});

/// As load_file(), for a text that is not in a file. StableHLO and HLO are converted first. The
/// converted text becomes the source: its name says so, and its comments give the lines of the
/// given text, which is the second source. Import errors and the instructions refer to the given
/// text.
LoadedFile load_text(const std::string& name, std::string text,
                     const importer::ImportOptions& options = {});

/// The part with the chosen function (`@f`, or empty for the first part's main function). Errors:
/// `no_function`; the file's errors as kInvalid.
struct ChosenFunction {
  const Program* program = nullptr;
  std::string name;  // without '@'
};
Expected<ChosenFunction> choose_function(const LoadedFile& file, const std::string& function);

/// Parses `a=1` pairs of `--mesh` and `--size`, optionally comma-separated. Errors: kUsage.
Expected<std::vector<std::pair<std::string, int64_t>>> parse_sizes(
    const std::vector<std::string>& items, const std::string& option);

}  // namespace hostir::api
