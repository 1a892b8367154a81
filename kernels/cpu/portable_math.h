// Elementary functions in f64 with the same bits on every machine.
//
// The reference kernels cannot use libm: glibc selects variants with and without fused multiply-add
// by CPU, and they differ in the last bit. These functions use only IEEE + - * / and sqrt, and are
// compiled without contraction. Accuracy: about 2 ulp of f64 (for pow too, over the whole range),
// so that a result rounded once to f32 is correctly rounded in all but about one case in 2^28.
// Absent: speed. The fast kernel set has its own vector approximations in f32.
#pragma once

#include <cstdint>

namespace hostir::cpu::portable {

double exp(double x);
double expm1_small(double x);  // |x| <= 1.1
double log(double x);
double pow(double x, double y);
double sin(double x);  // exact argument reduction for every finite x
double cos(double x);
double tanh(double x);
double erf(double x);
double sigmoid(double x);
double floor(double x);
double gelu_erf(double x);   // x Phi(x), with Phi computed by the error function
double gelu_tanh(double x);  // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))

/// x * 2^k without double rounding for normal results; overflows to infinity, underflows to 0.
double scale(double x, int64_t k);

}  // namespace hostir::cpu::portable
