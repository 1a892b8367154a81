// Equality of numbers in a program: nan equals nan, and 0 differs from -0.
#pragma once

#include <cmath>

namespace hostir {

inline bool same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace hostir
