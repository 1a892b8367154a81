// Reads a profile of PyTorch (Kineto, Chrome trace JSON, plain or gzip) in one pass.
#pragma once

#include <string>

#include "traces/profile/json_bytes.h"
#include "traces/profile/profile.h"

namespace hostir::traces::profile {

/// Memory is bounded by the rows that are kept: device work, launches and collectives. `file` is
/// used in messages and, where the profile does not state its rank, for the rank.
/// Errors: `kineto_format` (with the reason), `profile_size`, `gzip_format`.
Expected<ProcessProfile> read_kineto(JsonBytes::Source source, const std::string& file);

}  // namespace hostir::traces::profile
