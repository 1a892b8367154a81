// Compiled kernels of a program's launches, one per distinct placement of the operands.
//
// Ranks whose operands lie alike share a kernel. Plans are found by the addresses of the
// placements, which are stable for static layouts, and else by their contents.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/machine.h"
#include "interp/core/backend.h"
#include "kernels/cpu/kernel.h"

namespace hostir::sim {

/// A launch ready to run, and what it costs on the simulated device.
struct LaunchPlan {
  cpu::BoundKernel bound;
  std::unique_ptr<cpu::CompiledKernel> kernel;
  int64_t duration_ns = 1;
  interp::KernelWork work;
  std::set<std::pair<size_t, uint64_t>> packed;  // (parameter, version)
};

/// The operands of a launch by role, as indices into the task's buffers: parameters bind to `ro`
/// then `rw`, results to `wo` then `rw`.
struct LaunchRoles {
  std::vector<size_t> parameters;
  std::vector<size_t> results;
};
LaunchRoles roles_of(std::span<const interp::BufferRef> buffers);

class LaunchPlans {
 public:
  LaunchPlans(const Machine& machine, cpu::KernelSet set) : machine_(machine), set_(set) {}

  /// Compiles every launch of the code whose layouts are static, for every rank.
  Expected<void> prepare(const interp::Code& code);
  /// The plan of a launch with these placements, made if need be.
  Expected<LaunchPlan*> find(interp::CodeIndex code, interp::Rank rank,
                             std::span<const Placement* const> parameters,
                             std::span<const Placement* const> results);
  /// The plan that was used last, or nullptr.
  const LaunchPlan* last(interp::CodeIndex code, interp::Rank rank) const;

 private:
  struct Recent {
    std::vector<const Placement*> placements;
    LaunchPlan* plan = nullptr;
  };
  Expected<LaunchPlan*> make(interp::CodeIndex code, interp::Rank rank,
                             std::span<const Placement* const> parameters,
                             std::span<const Placement* const> results);
  Expected<void> prepare_launch(interp::CodeIndex code, interp::Rank rank);
  interp::KernelWork work_of(const Function& kernel, const cpu::BoundKernel& bound,
                             std::span<const Placement* const> parameters,
                             std::span<const Placement* const> results) const;

  Machine machine_;
  cpu::KernelSet set_;
  const interp::Code* code_ = nullptr;
  std::map<const Function*, std::vector<std::unique_ptr<LaunchPlan>>> plans_;
  std::map<std::pair<interp::CodeIndex, interp::Rank>, Recent> recent_;
};

}  // namespace hostir::sim
