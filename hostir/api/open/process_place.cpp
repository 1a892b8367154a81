#include "hostir/api/open/process_place.h"

#include <fmt/core.h>

#include <cstdlib>

#include "hostir/support/number_from.h"

namespace hostir::api {

namespace {

// The variables of one launcher. The launcher is detected by the first one.
struct Launcher {
  const char* index;
  const char* count;
  const char* local_index;
  const char* local_count;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
};
constexpr int kDefaultPort = 29410;

Expected<int> number(const EnvironmentLookup& lookup, const std::string& name,
                     std::optional<int> otherwise) {
  const auto text = lookup(name);
  if (!text) {
    if (otherwise) return *otherwise;
    return fail(
        ErrorKind::kUsage, "launcher",
        fmt::format("the launcher did not set {}, which is needed to place this process", name));
  }
  if (const auto value = number_from<int>(*text); value && *value >= 0) return *value;
  return fail(ErrorKind::kUsage, "launcher",
              fmt::format("{} is \"{}\", not a number", name, *text));
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Expected<interp::ProcessPlace> process_place(const EnvironmentLookup& lookup) {
  interp::ProcessPlace out;
  for (const Launcher& launcher : kLaunchers) {
    if (!lookup(launcher.index)) continue;
    HOSTIR_ASSIGN_OR_RETURN(out.index, number(lookup, launcher.index, std::nullopt));
    HOSTIR_ASSIGN_OR_RETURN(out.count, number(lookup, launcher.count, std::nullopt));
    if (out.count <= 1) return interp::ProcessPlace{};
    if (out.index >= out.count) {
      return fail(ErrorKind::kUsage, "launcher",
                  fmt::format("{} is {}, but {} is {}", launcher.index, out.index, launcher.count,
                              out.count));
    }
    HOSTIR_ASSIGN_OR_RETURN(out.local_count, number(lookup, launcher.local_count, out.count));
    HOSTIR_ASSIGN_OR_RETURN(out.local_index,
                            number(lookup, launcher.local_index, out.index % out.local_count));
    const auto host = lookup("MASTER_ADDR");
    if (!host && out.local_count < out.count) {
      return fail(
          ErrorKind::kUsage, "launcher",
          "the processes are on several computers: set MASTER_ADDR to the one of process 0, "
          "and MASTER_PORT to a free port there");
    }
    out.meeting_host = host.value_or("localhost");
    HOSTIR_ASSIGN_OR_RETURN(out.meeting_port, number(lookup, "MASTER_PORT", kDefaultPort));
    out.launcher_listens = lookup("HOSTIR_STORE").value_or("") == "launcher";
    // torchrun's own store already uses that port.
    if (lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True") ++out.meeting_port;
    return out;
  }
  return out;
}

}  // namespace hostir::api
