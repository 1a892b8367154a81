// The place of this process in a distributed run, from the launcher's environment variables.
//
// `hostir launch` and torchrun set RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
// MASTER_PORT; mpirun sets OMPI_COMM_WORLD_*; srun sets SLURM_*. mpirun and srun set no address,
// which is needed only if the processes are on several computers.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Looks up a variable in the environment of this process.
std::optional<std::string> environment_variable(const std::string& name);

/// The place of this process; a single process if there is no launcher. Errors: `launcher`, which
/// names the variable that is missing or not a number.
Expected<interp::ProcessPlace> process_place(const EnvironmentLookup& lookup);

}  // namespace hostir::api
