// The cost of a redistribution step on a machine, in nanoseconds.
//
// Collectives use collective_cost.h, like the simulator. Kernels cost their launch plus their bytes
// over the memory bandwidth. The largest part of a value counts, and an unknown size counts as
// `assumed_size`; these costs only compare choices and never affect correctness. If the largest
// value is smaller than 1 MiB, costs are scaled as if it had that size: otherwise latency would
// dominate and fewer but larger messages would always look best.
#pragma once

#include <map>
#include <optional>

#include "hostir/ir/machine.h"
#include "hostir/ops/collective_cost.h"
#include "hostir/passes/redistribute/redistribute_step.h"

namespace hostir {

/// Number of elements in the largest box; an unknown size counts as `assumed_size`.
double largest_local_elems(const Mesh& mesh, const Shape& shape, const Sharding& sharding);

class StepCost {
 public:
  /// `mesh` and `machine` must outlive this. `largest_bytes`: global size of the largest value.
  StepCost(const Mesh& mesh, const Machine& machine, double largest_bytes);

  double step_ns(const TensorType& type, const Sharding& from, const RedistributeStep& step) const;
  /// The part of step_ns() that a call saves by joining another one; 0 for a local step.
  double start_ns(const RedistributeStep& step) const;
  /// Bytes over one rank's link, as in nccl-tests' bus bandwidth; 0 for a local step.
  double step_bytes(const TensorType& type, const Sharding& from,
                    const RedistributeStep& step) const;
  /// Time of one kernel with this number of flops and of bytes read and written.
  double kernel_ns(DType dtype, double flops, double bytes) const;
  /// Time of a transfer in which no rank sends or receives more than `bytes`.
  double transfer_ns(OpKind kind, double bytes, const GroupPlace& place) const;
  /// The factor by which bytes and flops are multiplied; 1 for all but small programs.
  double scale() const { return scale_; }
  /// Of the groups over these axes.
  const GroupPlace& place_of(const AxisList& axes) const;

 private:
  std::optional<double> moved_bytes(const TensorType& type, const Sharding& from,
                                    const RedistributeStep& step) const;
  double bytes_of(const TensorType& type, const Sharding& sharding) const;

  const Mesh& mesh_;
  const Machine& machine_;
  double scale_;                                      // factor applied to bytes and flops
  mutable std::map<std::string, GroupPlace> places_;  // by axes
};

}  // namespace hostir
