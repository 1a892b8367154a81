// The ledger of collectives: one row per (communicator, group, sequence number), one cell per
// member.
//
// The first incomplete row is the frontier of the run. A cell holds the fingerprint that the
// meeting compares, so that a mismatch shows which field differs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct LedgerCell {
  /// kQueued: issued, but other work of the rank's stream comes first. kDiffers: in a mismatch, a
  /// call that differs from that of the majority; without a strict majority, all arrived calls.
  /// kUnknown: it is not known whether the member arrived.
  enum class State : uint8_t { kMissing, kQueued, kArrived, kRunning, kDone, kDiffers, kUnknown };
  State state = State::kMissing;
  Rank rank = kNoRank;
  CodeIndex code = 0;
  std::string address;      // where the member issued it; empty while missing
  std::string fingerprint;  // `all_reduce sum f32[4]`
  TaskId task = kNoTask;
  int64_t arrived_ns = -1;
};

struct LedgerRow {
  enum class State : uint8_t { kWaiting, kRunning, kDone, kMismatch };
  State state = State::kWaiting;
  CommIndex comm = 0;
  std::string comm_name;  // without '%'
  uint32_t group = 0;     // index into the communicator's groups
  uint64_t sequence = 0;
  bool point_to_point = false;    // send/recv: `sequence` is the ordinal of (source, destination)
  std::string kind;               // mnemonic; that of the majority if they differ
  int64_t bytes = 0;              // of the rank with most, as nccl-tests counts
  std::vector<LedgerCell> cells;  // in group order
};

}  // namespace hostir::interp
