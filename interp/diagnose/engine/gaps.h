// Sentences about the gaps in the record of a run.
#pragma once

#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::diagnose {

/// The texts of the gaps in order. Ranks with the same gap share a text.
std::vector<std::string> gap_sentences(const model::Run& run);

}  // namespace hostir::diagnose
