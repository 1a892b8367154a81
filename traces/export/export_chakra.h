// Exports a log as Chakra execution traces, for ASTRA-sim and other network simulators.
//
// Each rank has a file `PREFIX.<rank>.et` of length-delimited protobuf messages (schema:
// mlcommons/chakra et_def.proto). `PREFIX.groups.json` lists the members of each numbered group.
// Only device work is exported: kernels, collectives, sends and receives, in stream order
// (ctrl_deps). Chakra has no fields for the reduction and the element type.
#pragma once

#include <string>

#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// `comm_size` is in bytes as nccl-tests counts. Durations are in microseconds, rounded up, so that
/// short kernels do not vanish. Errors: those of reading; `file_open`, `file_write`.
Expected<void> export_chakra(const LogReader& log, const std::string& prefix);

}  // namespace hostir::traces
