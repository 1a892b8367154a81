// The cores that this process may run on: how many threads are worth starting.
#pragma once

namespace hostir {

/// At least 1. The cores of the calling thread's affinity mask (`taskset`, a batch system's job),
/// which std::thread::hardware_concurrency() ignores. Quotas of processor time are not considered.
/// Source: sched_getaffinity(2).
int usable_cores();

}  // namespace hostir
