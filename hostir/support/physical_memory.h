// Physical memory of this computer, used to reject oversized allocations with a clear error.
//
// Free memory (it changes all the time) and container limits are not considered.
#pragma once

#include <cstdint>

namespace hostir {

/// Size in bytes; INT64_MAX if the system does not report it. Source: sysconf(3).
int64_t physical_memory_bytes();

}  // namespace hostir
