// Which ranks can take a decision, and which is next: the one with the earliest host clock.
#pragma once

#include <span>
#include <vector>

#include "interp/core/engine/operands.h"
#include "interp/core/engine/run_queue.h"

namespace hostir::interp {

class Engine;

/// What a decision reads first, stored contiguously because CodeInstructions are large.
struct Dispatch {
  bool (*execute)(Engine&, Step&) = nullptr;  // nullptr for glue
  bool waits_on_host = false;
};

class Scheduler {
 public:
  Scheduler(RunContext& run, Operands& operands);

  const Dispatch& dispatch(CodeIndex code) const { return dispatch_[code]; }
  Rank next_rank() const { return run_.state.failed ? kNoRank : run_queue_.first(); }
  bool can_run(Rank rank) const { return run_queue_.key(rank) != RunQueue::kCannotRun; }

  /// Runs loop ends and jumps, up to the rank's next instruction.
  void execute_glue(RankState& rank) {
    if (dispatch_[rank.pc].execute == nullptr) run_glue(rank);
  }
  /// Updates status and key of a rank after anything that may have changed them.
  void refresh(Rank rank);
  void refresh_all();
  /// refresh() after the rank's own decision.
  void advance(Rank r, RankState& rank) {
    // The common case: it was runnable and still is.
    if (rank.status != RankStatus::kRunnable || dispatch_[rank.pc].waits_on_host) return refresh(r);
    hosts_[static_cast<size_t>(r)].clock_ns = rank.clock_ns;
    run_queue_.set(r, rank.clock_ns);
    note_host(r);
  }

  std::span<const HostState> hosts() const { return hosts_; }
  /// The ranks that changed since the last call; valid until the next call.
  std::span<const Rank> take_moved_hosts() {
    for (const Rank rank : moved_hosts_) host_moved_[static_cast<size_t>(rank)] = 0;
    told_hosts_.swap(moved_hosts_);
    moved_hosts_.clear();
    return told_hosts_;
  }

 private:
  void run_glue(RankState& rank);
  void note_host(Rank rank) {
    if (host_moved_[static_cast<size_t>(rank)] != 0) return;
    host_moved_[static_cast<size_t>(rank)] = 1;
    moved_hosts_.push_back(rank);
  }

  RunContext& run_;
  Operands& operands_;
  std::vector<Dispatch> dispatch_;  // by code
  std::vector<HostState> hosts_;
  RunQueue run_queue_;  // host clocks of the ranks that can run
  std::vector<Rank> moved_hosts_;
  std::vector<Rank> told_hosts_;
  std::vector<uint8_t> host_moved_;  // by rank
};

}  // namespace hostir::interp
