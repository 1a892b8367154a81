// The operands of launches: which buffers a kernel's parameters and results bind to, and their
// placements if known before the run.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "interp/core/backend.h"

namespace hostir::interp {

/// The operands of a launch by role, as indices into the task's buffers: parameters bind to `ro`
/// then `rw`, results to `wo` then `rw`.
struct LaunchRoles {
  std::vector<size_t> parameters;
  std::vector<size_t> results;
};
LaunchRoles roles_of(std::span<const BufferRef> buffers);

/// Placements of a launch's operands in the kernel's order.
struct LaunchPlacements {
  std::vector<const Placement*> parameters;
  std::vector<const Placement*> results;
};
LaunchPlacements placements_of(std::span<const BufferRef> buffers, const LaunchRoles& roles);

/// The kernel that a launch names. Errors: `launch_kernel`.
Expected<const Function*> launched_kernel(const Code& code, CodeIndex index);

/// Calls `prepare` for every launch and each of the first `ranks` ranks whose operand layouts are
/// static, so that a backend can compile before the run. If a launch that always runs fails,
/// returns the error with the rank and the launch named. A launch inside `where` may never run, so
/// its errors are deferred to execution.
using PrepareLaunch =
    std::function<Expected<void>(CodeIndex code, Rank rank, const LaunchPlacements& operands)>;
Expected<void> prepare_static_launches(const Code& code, const PrepareLaunch& prepare,
                                       Rank ranks = INT32_MAX);

}  // namespace hostir::interp
