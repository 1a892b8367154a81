// How much memory this computer has: what is larger is refused by name instead of tried.
//
// Absent: how much of it is free, which changes while we look, and limits of containers.
#pragma once

#include <cstdint>

namespace hostir {

/// Bytes; INT64_MAX where the system does not say. Source: sysconf(3).
int64_t physical_memory_bytes();

}  // namespace hostir
