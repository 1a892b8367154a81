// Wall-clock time.
#pragma once

#include <chrono>
#include <cstdint>

namespace hostir {

inline int64_t unix_time_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace hostir
