// The work of one launch on one rank, and its minimum and expected time on a machine. Zero means
// unknown.
#pragma once

namespace hostir {
struct Machine;
struct Program;
}  // namespace hostir

namespace hostir::kernels {

struct BoundKernel;

struct KernelWork {
  double flops = 0;
  double read_bytes = 0;   // of the parameters
  double write_bytes = 0;  // of the results
  double limit_ns = 0;     // KernelTime::limit_ns
  double expected_ns = 0;  // KernelTime::expected_ns
};

KernelWork kernel_work(const Program& program, const BoundKernel& kernel, const Machine& machine);

}  // namespace hostir::kernels
