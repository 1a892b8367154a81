// Exports a log as Chakra execution traces, for ASTRA-sim and other simulators of networks.
//
// One file per rank, `PREFIX.<rank>.et`: a stream of length-delimited protobuf messages (schema:
// mlcommons/chakra et_def.proto), and `PREFIX.groups.json` with the members of each group, which
// nodes name by number. Only device work is exported: kernels, collectives, sends and receives, in
// the order of their streams (ctrl_deps). Chakra has no reductions and element types.
#pragma once

#include <string>

#include "traces/log_reader.h"

namespace hostir::traces {

/// `comm_size` is in bytes as nccl-tests counts. Durations are in microseconds, rounded up, so that
/// short kernels do not vanish. Errors: those of reading; `file_open`, `file_write`.
Expected<void> export_chakra(const LogReader& log, const std::string& prefix);

}  // namespace hostir::traces
