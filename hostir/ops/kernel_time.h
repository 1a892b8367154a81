// The predicted time of a kernel on a machine, from its ops and the bytes that it moves.
//
// One formula for the simulator, the compiler's choices and calibration.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/machine.h"
#include "hostir/ir/program.h"

namespace hostir {

class KernelTime {
 public:
  explicit KernelTime(const Machine& machine) : machine_(machine) {}

  /// One op. `product`: the dtype of a contraction's operands; other ops run at the f32 rate.
  void add(double flops, std::optional<DType> product);

  /// In ns, without Machine::launch_ns: the larger of arithmetic and memory traffic. Values inside
  /// a kernel stay on chip.
  double limit_ns(double bytes) const;
  /// In ns, without Machine::launch_ns. The smaller of arithmetic and memory traffic is only partly
  /// hidden behind the larger, and Machine::product_ramp_flops slows small products.
  double expected_ns(double bytes) const;

 private:
  double memory_s(double bytes) const;

  const Machine& machine_;
  double arithmetic_s_ = 0;
  double ramp_s_ = 0;
};

/// The values that a kernel reads from memory and writes to it.
struct MovedValues {
  std::vector<ValueId> read;
  std::vector<ValueId> written;
};

/// The parameters and results. If a result is an alias of a parameter and an op changes that in
/// places (dynamic_update_slice, put), only what the op puts there is written.
MovedValues moved_values(const Function& kernel);

}  // namespace hostir
