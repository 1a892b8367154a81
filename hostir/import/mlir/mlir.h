// Parses MLIR text (StableHLO with Shardy, as JAX prints it) into a `Module`.
//
// Errors: kInvalid with one diagnostic (`mlir_syntax`), with its position, per function that does
// not parse. Any input is safe.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// True if the text starts like MLIR.
bool looks_like_mlir(std::string_view text);

Expected<Module> read_mlir(const SourceManager& sources, uint32_t file);

}  // namespace hostir::importer
