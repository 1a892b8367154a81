// Builds snapshots of a live interpreter, sharing the parts that did not change.
//
// A rank's part is rebuilt only when something it shows has changed: its steps, clock, pending work
// or memory. Each part has its own function, independent of the others.
#pragma once

#include <memory>
#include <vector>

#include "interp/core/interpreter.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::interp {

RankSnapshot make_rank_snapshot(const Interpreter& interpreter, Rank rank);
MemorySnapshot make_memory_snapshot(const Interpreter& interpreter, Rank rank);
std::shared_ptr<const std::vector<LedgerRow>> make_ledger_snapshot(
    std::shared_ptr<const model::Run> run);
WaitsSnapshot make_waits_snapshot(const model::Run& run);
/// Ranks whose calls do not match wait for each other, or for nobody. Names as culprits the ranks
/// outside the majority, or, without a majority, all ranks that made the calls.
void accuse_differing(const model::Run& run, const std::vector<FaultSnapshot>& faults,
                      WaitsSnapshot& waits);
std::vector<FaultSnapshot> make_fault_snapshots(const Interpreter& interpreter, uint32_t branch);

class SnapshotBuilder {
 public:
  SnapshotBuilder(const Interpreter& interpreter, std::shared_ptr<const ProgramView> program);

  /// Everything that comes from the interpreter; the caller fills in position, stop, focus and
  /// breakpoints.
  Snapshot build(uint32_t branch);
  /// Call after an edit or a jump: the next snapshot reuses nothing.
  void forget();

 private:
  struct Key {
    uint64_t steps = 0;
    int64_t clock_ns = 0;
    uint64_t outstanding = 0;  // hash over all streams
    int64_t live_bytes = 0;
    RankStatus status = RankStatus::kRunnable;
    bool frozen = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  Key key_of(Rank rank) const;

  const Interpreter& interpreter_;
  std::shared_ptr<const ProgramView> program_;
  std::vector<Key> keys_;
  std::vector<std::shared_ptr<const RankSnapshot>> ranks_;
  std::vector<std::shared_ptr<const MemorySnapshot>> memory_;
};

}  // namespace hostir::interp
