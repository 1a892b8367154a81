// The ledger of collectives: one row per (communicator, group, sequence number), one cell per
// member.
//
// The first incomplete row is the frontier of the run. A cell is a member of the run's model, plus
// what follows from the meeting as a whole: whether its call differs, and what holds it up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/ids.h"
#include "interp/model/run.h"

namespace hostir::interp {

struct LedgerCell {
  /// kQueued: issued, but other work of the rank's stream comes first. kDiffers: in a mismatch, a
  /// call that differs from that of the majority; without a strict majority, all arrived calls.
  /// kUnknown: it is not known whether the member arrived.
  enum class State : uint8_t { kMissing, kQueued, kArrived, kRunning, kDone, kDiffers, kUnknown };
  State state = State::kMissing;
  const model::Member* member = nullptr;  // in the run that the ledger was made from
  /// `all_reduce sum f32[4]`; in a mismatch of counts also what it sends and expects. Empty if the
  /// member is not known to have arrived.
  std::string call;

  Rank rank() const { return member->rank; }
  bool arrived() const { return member->arrived(); }
  /// Where the member issued it; 0 if that is unknown.
  CodeIndex code() const { return member->instruction.valid() ? member->instruction.index : 0; }
  /// `@mlp.host#9`; empty if it is unknown.
  std::string address(const model::Run& run) const;
};

/// `%c` for a communicator that a program declares; the group's name for one of a recorded job.
std::string comm_text(const model::Communicator& communicator);

struct LedgerRow {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kMismatch };
  State state = State::kWaiting;
  CommIndex comm = 0;
  std::string comm_name;  // without '%'
  std::string comm_text;  // comm_text()
  uint32_t group = 0;     // index into the communicator's groups
  uint64_t sequence = 0;
  bool point_to_point = false;    // send/recv: `sequence` is the ordinal of (source, destination)
  std::string kind;               // mnemonic; that of the majority if they differ
  int64_t bytes = 0;              // of the rank with most, as nccl-tests counts
  std::vector<LedgerCell> cells;  // in group order
};

}  // namespace hostir::interp
