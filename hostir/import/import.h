// Imports programs of other compilers.
//
// `import_text` reads StableHLO (MLIR text) or scheduled HLO. The resulting program prints, parses
// back and runs like a handwritten one: it is a fusion, or a host function if the module itself
// specifies the program of each device. Errors: kInvalid, with positions in the given text.
// `report` lists what was skipped or guessed.
#pragma once

#include <string_view>

#include "hostir/import/emit/emitter.h"
#include "hostir/import/import_options.h"
#include "hostir/ir/program.h"

namespace hostir::importer {

enum class SourceLanguage : uint8_t { kHir, kMlir, kHlo };

/// Detects the language by the first words of a text; kHir if this folder cannot read it.
SourceLanguage language_of(std::string_view text);

struct Imported {
  Program program;
  ImportReport report;
};

Expected<Imported> import_text(const SourceManager& sources, uint32_t file,
                               const ImportOptions& options = {});

/// Converts a parsed module to a program.
Expected<Imported> import_module(const Module& module);

/// One line per kind of operation without a counterpart, then the notes with their lines; empty if
/// there are none.
std::string describe(const ImportReport& report, const SourceManager& sources);

}  // namespace hostir::importer
