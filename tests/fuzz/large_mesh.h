// Inputs that would only exhaust time and memory.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>

namespace hostir::fuzz {

/// True if a number of more than five digits follows `=`, as in `<tp=1000000>`: a mesh of millions
/// of ranks is valid, but takes minutes with the sanitizers.
inline bool may_have_large_mesh(const uint8_t* data, size_t size) {
  size_t digits = 0;
  bool follows = false;
  for (size_t i = 0; i < size; ++i) {
    const int c = data[i];
    digits = std::isdigit(c) != 0 ? digits + 1 : 0;
    if (c == '=') follows = true;
    if (follows && digits > 5) return true;
    if (digits == 0 && c != '=' && c != ' ') follows = false;
  }
  return false;
}

}  // namespace hostir::fuzz
