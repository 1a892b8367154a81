// Compiled kernels of a program's launches, and their cost on the simulated device.
#pragma once

#include <memory>
#include <set>
#include <span>

#include "interp/core/code/launch_operands.h"
#include "interp/sim/sim_backend.h"
#include "kernels/common/kernel_work.h"
#include "kernels/common/launch_plans.h"
#include "kernels/cpu/kernel.h"

namespace hostir::sim {

using interp::LaunchRoles;
using interp::roles_of;

/// A launch ready to run, and its cost on the simulated device.
struct LaunchPlan {
  kernels::BoundKernel bound;
  std::unique_ptr<cpu::CompiledKernel> kernel;  // null if the run computes no values
  int64_t duration_ns = 1;
  kernels::KernelWork work;
  std::set<std::pair<size_t, uint64_t>> packed;  // (parameter, version)
};

class LaunchPlans {
 public:
  explicit LaunchPlans(const SimOptions& options);
  LaunchPlans(const LaunchPlans&) = delete;
  LaunchPlans& operator=(const LaunchPlans&) = delete;

  /// Compiles every launch with static layouts, for every rank.
  Expected<void> prepare(const interp::Code& code);
  /// The plan of a launch with these placements; created if missing.
  Expected<LaunchPlan*> find(interp::CodeIndex code, interp::Rank rank,
                             std::span<const Placement* const> parameters,
                             std::span<const Placement* const> results);
  /// The most recently used plan, or nullptr.
  const LaunchPlan* last(interp::CodeIndex code, interp::Rank rank) const {
    return plans_.last(code, rank);
  }

 private:
  Expected<std::unique_ptr<LaunchPlan>> make(kernels::BoundKernel bound) const;

  SimOptions options_;
  const interp::Code* code_ = nullptr;
  kernels::LaunchPlans<LaunchPlan> plans_;
};

}  // namespace hostir::sim
