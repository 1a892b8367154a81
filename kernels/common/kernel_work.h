// The work of one launch on one rank, and its minimum and expected time on a machine.
#pragma once

#include "hostir/ir/machine.h"
#include "kernels/common/bound_kernel.h"

namespace hostir::kernels {

struct KernelWork {
  double flops = 0;
  double read_bytes = 0;   // of the parameters
  double write_bytes = 0;  // of the results
  double limit_ns = 0;     // max(arithmetic, memory traffic); values inside a kernel stay on chip
  double expected_ns = 0;  // as below
};

/// The predicted time of a launch whose arithmetic alone takes `arithmetic_s` and whose memory
/// traffic alone `memory_s`: the smaller is only partly hidden behind the larger. Products count
/// with Machine::product_ramp_flops. Without `launch_ns`.
double expected_ns(double arithmetic_s, double memory_s);

KernelWork kernel_work(const Program& program, const BoundKernel& kernel, const Machine& machine);

}  // namespace hostir::kernels
