#include "interp/session/snapshots/snapshot_builder.h"

#include "interp/core/state.h"

namespace hostir::interp {

SnapshotBuilder::SnapshotBuilder(const Interpreter& interpreter,
                                 std::shared_ptr<const ProgramView> program)
    : interpreter_(interpreter), program_(std::move(program)) {
  forget();
}

void SnapshotBuilder::forget() {
  const auto n = static_cast<size_t>(interpreter_.code().rank_count);
  keys_.assign(n, {});
  ranks_.assign(n, nullptr);
  memory_.assign(n, nullptr);
}

SnapshotBuilder::Key SnapshotBuilder::key_of(Rank rank) const {
  const RankView view = interpreter_.rank(rank);
  // The steps and the number of pending tasks per stream determine which tasks are unfinished.
  uint64_t outstanding = 0;
  for (const StreamState& s : interpreter_.state().ranks[static_cast<size_t>(rank)].streams)
    outstanding = outstanding * 1099511628211u + s.outstanding;
  return {view.steps,  view.clock_ns, outstanding, interpreter_.live_bytes(rank),
          view.status, view.frozen};
}

Snapshot SnapshotBuilder::build(uint32_t branch) {
  Snapshot out;
  for (Rank rank = 0; rank < interpreter_.code().rank_count; ++rank) {
    const auto i = static_cast<size_t>(rank);
    const Key key = key_of(rank);
    // A blocked rank shows the state of others, so it is always rebuilt.
    if (!ranks_[i] || key != keys_[i] || key.status == RankStatus::kBlocked) {
      ranks_[i] = std::make_shared<const RankSnapshot>(make_rank_snapshot(interpreter_, rank));
      memory_[i] = std::make_shared<const MemorySnapshot>(make_memory_snapshot(interpreter_, rank));
      keys_[i] = key;
    }
    out.now_ns = std::max(out.now_ns, key.clock_ns);
  }
  out.ranks = ranks_;
  out.memory = memory_;
  out.program = program_;
  auto run = std::make_shared<const model::Run>(interpreter_.run_model());
  out.ledger = make_ledger_snapshot(run);
  out.faults = std::make_shared<const std::vector<FaultSnapshot>>(
      make_fault_snapshots(interpreter_, branch));
  WaitsSnapshot waits = make_waits_snapshot(*run);
  if (!out.faults->empty() &&
      (out.faults->back().kind == "deadlock" || out.faults->back().kind == "timeout"))
    waits.sentence = out.faults->back().sentence;
  accuse_differing(*run, *out.faults, waits);
  out.waits = std::make_shared<const WaitsSnapshot>(std::move(waits));
  out.run = std::move(run);
  return out;
}

}  // namespace hostir::interp
