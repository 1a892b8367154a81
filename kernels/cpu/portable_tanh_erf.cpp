#include <cmath>

#include "kernels/cpu/portable_math.h"

namespace hostir::cpu::portable {
namespace {

/// e^(-x^2) without the rounding error of x^2, which the exponential would amplify.
double gaussian(double x) {
  const double head = static_cast<double>(static_cast<float>(x));
  return exp(-head * head) * (1.0 + expm1_small(-(x - head) * (x + head)));
}

/// All terms positive, so no cancellation: erf(x) = 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) /
/// (2n+1)!!.
double erf_by_series(double x) {
  const double x2 = x * x;
  double term = x;
  double sum = x;
  for (int n = 1; n < 100 && term > sum * 0x1p-60; ++n) {
    term *= 2.0 * x2 / static_cast<double>(2 * n + 1);
    sum += term;
  }
  return 0x1.20dd750429b6dp+0 * gaussian(x) * sum;
}

/// 1 - erf(x) for x >= 3 by its continued fraction.
double erfc_by_fraction(double x) {
  double fraction = 0;
  for (int n = 60; n >= 1; --n) fraction = static_cast<double>(n) * 0.5 / (x + fraction);
  return gaussian(x) / (0x1.c5bf891b4ef6ap+0 * (x + fraction));
}

}  // namespace

double tanh(double x) {
  if (x != x) return x;
  const double magnitude = std::fabs(x);
  double result = 1;
  if (magnitude <= 0.55) {
    const double e = expm1_small(2.0 * magnitude);
    result = e / (e + 2.0);
  } else if (magnitude < 22) {
    result = 1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0);
  }
  return std::copysign(result, x);
}

double erf(double x) {
  if (x != x) return x;
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return x;
  double result = 1;
  if (magnitude < 3) {
    result = erf_by_series(magnitude);
  } else if (magnitude < 6) {
    result = 1.0 - erfc_by_fraction(magnitude);
  }
  return std::copysign(result, x);
}

double sigmoid(double x) {
  if (x < 0) {
    const double e = exp(x);
    return e / (1.0 + e);
  }
  return 1.0 / (1.0 + exp(-x));
}

double gelu_erf(double x) { return 0.5 * x * (1.0 + erf(x * 0x1.6a09e667f3bcdp-1)); }

// Written without cancellation.
double gelu_tanh(double x) {
  return x * sigmoid(0x1.988453a6d9a2cp+0 * (x + 0.044715 * x * x * x));
}

}  // namespace hostir::cpu::portable
