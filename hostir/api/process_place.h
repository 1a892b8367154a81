// Which process of a run this is, from the environment of whoever started it.
//
// `hostir launch` and torchrun set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT; mpirun OMPI_COMM_WORLD_*; srun SLURM_*. The last two say nothing of an address,
// which is needed only where the processes are on several computers.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "interp/session/engine.h"

namespace hostir::api {

using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
/// The process' own environment.
std::optional<std::string> environment_variable(const std::string& name);

/// One process alone where nobody says otherwise. Errors: `launcher` naming the variable that is
/// missing or no number.
Expected<interp::ProcessPlace> process_place(const EnvironmentLookup& lookup);

}  // namespace hostir::api
