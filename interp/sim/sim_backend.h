// The backend that runs all ranks in one process, in virtual time.
//
// Exact and deterministic: times come from the machine description (timeline.h), values from
// kernels and exchanges, applied when their tasks finish. The same program, inputs, machine and
// schedule give the same times and, with the same kernel set and instruction set, the same bits,
// whatever the stepping order of the hosts. Needs no GPU. Replicas and results of collectives share
// memory. Without values (`Values::kNone`) the times are the same, but no kernel is compiled, no
// buffer has bytes, and reading one fails. The interpreter enforces memory limits.
#pragma once

#include <cstdint>
#include <memory>

#include "hostir/ir/machine.h"
#include "interp/core/backend.h"
#include "kernels/cpu/kernel.h"

namespace hostir::sim {

class BufferObserver;

struct SimOptions {
  enum class Values : uint8_t { kComputed, kNone } values = Values::kComputed;
  Machine machine = default_machine();
  cpu::KernelSet kernels = cpu::KernelSet::kFast;
  uint64_t seed = 0;
  uint64_t schedule = 0;  // 0: plain durations; k > 0: each scaled by a factor in [1/8, 8]
  std::vector<interp::StartDelay> delays;
  int threads = 0;  // 0: as many as kernels use already (cpu::set_thread_count)
  /// kAlike: assumes that every rank arrives at a collective when this one does, so one rank that
  /// runs alone (RunOptions::ranks) represents all. Only without values, and without send and recv.
  enum class Members : uint8_t { kRun, kAlike } members = Members::kRun;
  /// Observes the run; not owned. The machine must have no p2p buffers.
  BufferObserver* observer = nullptr;
};

/// The interpreter must charge `options.machine.issue_ns` (at least 1) per host instruction.
std::unique_ptr<interp::Backend> make_sim_backend(const SimOptions& options);

}  // namespace hostir::sim
