// MLIR text (StableHLO with Shardy, as JAX prints it) into a `Module`.
//
// Errors: kInvalid with one diagnostic per function that could not be read (`mlir_syntax`), each at
// its place in the text. Input of any kind is safe.
#pragma once

#include "hostir/import/module.h"

namespace hostir::importer {

/// Whether a text begins as MLIR does.
bool looks_like_mlir(std::string_view text);

Expected<Module> read_mlir(const SourceManager& sources, uint32_t file);

}  // namespace hostir::importer
