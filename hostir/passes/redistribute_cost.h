// What a step of a redistribution costs on a machine, in nanoseconds.
//
// Collectives as collective_cost.h has them, which `sim` also takes its times from; kernels by
// their bytes over the memory bandwidth and the launch. The largest part of a value counts, and an
// unknown size as 1024: these are costs to compare choices by, never what correctness depends on. A
// program whose largest value is smaller than 1 MiB is taken as an example of one where it has that
// size: with the latency of a few bytes alone, fewer but larger messages would always look best.
#pragma once

#include <map>

#include "hostir/ir/machine.h"
#include "hostir/ops/collective_cost.h"
#include "hostir/passes/redistribute_step.h"

namespace hostir {

/// Elements of the largest box, an unknown size counted as 1024.
double largest_local_elems(const Mesh& mesh, const Shape& shape, const Sharding& sharding);

class StepCost {
 public:
  /// Both must outlive this. `largest_bytes`: of the program's largest value, all ranks together.
  StepCost(const Mesh& mesh, const Machine& machine, double largest_bytes);

  double step_ns(const TensorType& type, const Sharding& from, const RedistributeStep& step) const;
  /// Bytes over one rank's link, as nccl-tests' bus bandwidth counts them; 0 for a local step.
  double step_bytes(const TensorType& type, const Sharding& from,
                    const RedistributeStep& step) const;
  /// One kernel that reads and writes so many bytes and computes so many flops.
  double kernel_ns(DType dtype, double flops, double bytes) const;
  const Machine& machine() const { return machine_; }

 private:
  double bytes_of(const TensorType& type, const Sharding& sharding) const;
  const GroupPlace& place_of(const AxisList& axes) const;

  const Mesh& mesh_;
  const Machine& machine_;
  double scale_;                                      // what bytes and flops are multiplied by
  mutable std::map<std::string, GroupPlace> places_;  // by axes
};

}  // namespace hostir
