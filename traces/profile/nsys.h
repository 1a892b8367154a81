// Reads the SQLite export of Nsight Systems: kernels, copies, launches, and NCCL's NVTX ranges.
#pragma once

#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "traces/profile/profile.h"

namespace hostir::traces::profile {

/// One profile for each process with GPU work. Tables and columns that the export lacks are left
/// out. The file is never changed.
/// Errors: `nsys_format` (not such an export, or without GPU work), `profile_size`, and those of
/// sqlite.h.
Expected<std::vector<ProcessProfile>> read_nsys(const std::string& path);

}  // namespace hostir::traces::profile
