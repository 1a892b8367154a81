// Makes snapshots of a live interpreter, sharing what did not change.
//
// A rank's part is made again only when something that it shows moved: its own steps, clock,
// pending work or memory. The parts are made by one function each, which know nothing of each
// other.
#pragma once

#include <memory>
#include <vector>

#include "interp/core/interpreter.h"
#include "interp/session/snapshot.h"

namespace hostir::interp {

RankSnapshot make_rank_snapshot(const Interpreter& interpreter, Rank rank);
MemorySnapshot make_memory_snapshot(const Interpreter& interpreter, Rank rank);
std::vector<LedgerRow> make_ledger_snapshot(const model::Run& run);
WaitsSnapshot make_waits_snapshot(const model::Run& run);
std::vector<FaultSnapshot> make_fault_snapshots(const Interpreter& interpreter, uint32_t branch);

class SnapshotBuilder {
 public:
  SnapshotBuilder(const Interpreter& interpreter, std::shared_ptr<const ProgramView> program);

  /// Everything that comes from the interpreter; position, stop, focus and breakpoints are the
  /// caller's.
  Snapshot build(uint32_t branch);
  /// After an edit or a jump: nothing is reused for the next one.
  void forget();

 private:
  struct Key {
    uint64_t steps = 0;
    int64_t clock_ns = 0;
    uint64_t outstanding = 0;  // of all streams, mixed
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
