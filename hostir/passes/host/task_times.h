// The expected times of the tasks of a host function, in ns, for passes that order or join tasks.
//
// As in the simulator, a launch takes the machine's launch time plus the work of its kernel, and a
// collective the time of collective_cost.h, both for the rank with most elements. Unknown sizes
// count as in assumed_size.h. These times compare schedules and never affect correctness.
#pragma once

#include <map>
#include <string>

#include "hostir/ops/collective_cost.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

/// Local extents on the rank with most elements; an unknown size counts as `assumed_size`.
Extents largest_box(const Mesh& mesh, const Shape& shape, const Sharding& sharding);

class TaskTimes {
 public:
  /// All arguments must outlive this.
  TaskTimes(const Program& program, const Function& host, const Machine& machine);

  double launch_ns(const Instruction& launch);

  struct Collective {
    double ns = 0;
    double latency_ns = 0;  // of it: with no bytes
    double bytes = 0;       // on one rank, the larger of input and output
  };
  Collective collective(const Instruction& instruction);

 private:
  double kernel_ns(const Function& kernel) const;
  Extents local_extents(const Type& type) const;
  double local_bytes(const Type& type) const;
  const GroupPlace& place_of(ValueId comm);

  const Program& program_;
  const Function& host_;
  const Machine& machine_;
  std::map<std::string, const Function*> kernels_;
  std::map<std::string, double> known_;    // by kernel
  std::map<uint32_t, GroupPlace> places_;  // by communicator
};

}  // namespace hostir
