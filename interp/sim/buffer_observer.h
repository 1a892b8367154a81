// Observes what a run does to its buffers, instead of or in addition to the values: in the same
// order, at the same moments. The prover (proof/) implements it to track what each element stands
// for.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "interp/sim/exchange.h"

namespace hostir::sim {

class BufferObserver {
 public:
  virtual ~BufferObserver() = default;
  virtual void allocated(Rank rank, const BufferRef& ref) = 0;
  virtual void released(Rank rank, const BufferRef& ref) = 0;
  /// Operands as in the task: ro, wo, rw.
  virtual void launched(Rank rank, interp::CodeIndex code, std::span<const BufferRef> buffers) = 0;
  /// One collective, or a send with its recv (sender first).
  struct Exchanged {
    interp::CodeIndex code = 0;  // of the last member that arrived
    OpKind kind = OpKind::all_reduce;
    Reduction reduction = Reduction::kSum;
    int32_t root = -1;
    std::span<const std::pair<int32_t, int32_t>> pairs;
    std::vector<Contribution> members;
  };
  virtual void exchanged(Exchanged what) = 0;
};

}  // namespace hostir::sim
