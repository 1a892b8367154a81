// Reads the file of libhostir_nccl.so (traces/nccl_plugin/ring.h), also while a job writes it.
//
// For a file written on this machine, also finds out whether its process is alive or stopped, by
// the process id in the file and /proc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/import/process_dump.h"

namespace hostir::traces::import {

/// `head`: the first bytes of a file.
bool looks_like_nccl_ring(std::string_view head);

/// One dump per rank: a process may drive several. Facts about the process other than calls go to
/// `notes`, one sentence each. Errors: `nccl_ring` (another version, or cut).
Expected<std::vector<ProcessDump>> read_nccl_ring(std::string_view bytes,
                                                  std::vector<std::string>& notes);

}  // namespace hostir::traces::import
