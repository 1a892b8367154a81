// What the record of a run lacks, in sentences.
#pragma once

#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::diagnose {

/// The texts of the gaps in order; gaps that say the same of several ranks share one.
std::vector<std::string> gap_sentences(const model::Run& run);

}  // namespace hostir::diagnose
