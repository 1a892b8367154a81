#include "hostir/cli/backends.h"

#include "interp/null/null_backend.h"
#include "interp/sim/sim_backend.h"

namespace hostir::cli {

interp::BackendFactory make_backend_factory() {
  return [](const interp::BackendRequest& request) -> Expected<std::unique_ptr<interp::Backend>> {
    if (request.name == "null") return std::make_unique<interp::NullBackend>();
    if (request.name == "sim") {
      sim::SimOptions options;
      options.machine = request.machine;
      options.seed = request.seed;
      options.schedule = request.schedule;
      options.kernels =
          request.reference_kernels ? cpu::KernelSet::kReference : cpu::KernelSet::kFast;
      return sim::make_sim_backend(options);
    }
    return fail(ErrorKind::kUsage, "no_backend",
                "no backend is called \"" + request.name + "\" in this build; it has sim and null");
  };
}

}  // namespace hostir::cli
