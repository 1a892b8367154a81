// From the text of other compilers to programs of ours.
//
// `import_text` reads StableHLO (MLIR text) or scheduled HLO and gives a program that prints, reads
// back and runs like one that was written by hand: a fusion, or a host function where the module
// says itself what each device does. Errors: kInvalid with places in the given text. What was left
// out or guessed is in `report`.
#pragma once

#include <string_view>

#include "hostir/import/emitter.h"
#include "hostir/ir/program.h"

namespace hostir::importer {

enum class SourceLanguage : uint8_t { kHir, kMlir, kHlo };

/// By the first words of a text; kHir is everything that this folder does not read.
SourceLanguage language_of(std::string_view text);

struct Imported {
  Program program;
  ImportReport report;
};

Expected<Imported> import_text(const SourceManager& sources, uint32_t file);

/// A module that was read, as a program.
Expected<Imported> import_module(const Module& module);

/// One line per kind of operation that has no counterpart, and the notes; empty if there is nothing
/// to say.
std::string describe(const ImportReport& report);

}  // namespace hostir::importer
