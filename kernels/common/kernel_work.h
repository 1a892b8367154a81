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
  /// The predicted time without the launch: arithmetic and memory traffic, of which the smaller is
  /// only partly hidden behind the larger.
  double expected_ns = 0;
};

KernelWork kernel_work(const Program& program, const BoundKernel& kernel, const Machine& machine);

}  // namespace hostir::kernels
