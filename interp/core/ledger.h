// The ledger: which rank issued what, on which communicator, under which sequence number.
//
// Collectives meet by (communicator, group, sequence number); each rank numbers its own collectives
// per communicator. send and recv match by (communicator, source, destination, ordinal). A meeting
// keeps one Arrival per member. Finished meetings stay in a window for display and are then
// dropped; the log has all of them. meetings.cpp decides which arrivals match.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/core/engine/member_counts.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// One member's call of a collective, and its progress.
struct Arrival {
  uint64_t fingerprint = 0;  // hash of everything that must be equal on all members
  int64_t total_elems = -1;  // whole operation; -1: unknown by this member
  int64_t row_elems = -1;    // elements per index of dimension 0 of the whole; -1: unknown
  int64_t local_elems = 0;   // this rank's block
  const Placement* placement = nullptr;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  TaskId task = kNoTask;
  StreamIndex stream = 0;
  uint32_t stream_sequence = 0;
  int64_t arrived_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = 0;
  int32_t root = -1;
  OpKind kind = OpKind::all_reduce;
  DType dtype = DType::kF32;
  Reduction reduction = Reduction::kSum;
  bool arrived = false;
  bool finished = false;
  uint32_t agreeing = 0;       // once the meeting is a mismatch: members that agree with this one
  MemberCounts blocks;         // of the root of a scatter or gather: each member's elements
  std::vector<int64_t> sends;  // all_to_all, permute: elements to each member
  std::vector<int64_t> receives;  // all_to_all, permute: elements from each member
};

struct MeetingHead {
  uint32_t arrived = 0;
  uint32_t finished = 0;
  uint64_t fingerprint = 0;  // fingerprint of the first arrival
  bool mismatch = false;
  uint32_t counted = 0;  // members in `agreeing` of the arrivals
};

/// The meetings of one group of one communicator, in a ring buffer of rows.
class GroupLedger {
 public:
  static constexpr size_t kWindow = 32;

  explicit GroupLedger(uint32_t members = 0) : members_(members) {}
  /// Creates the row if it does not exist. `sequence` must not have been dropped.
  void reach(uint64_t sequence) {
    while (end_ <= sequence) add_row();
  }
  bool has(uint64_t sequence) const { return sequence >= first_ && sequence < end_; }
  MeetingHead& head(uint64_t sequence) { return heads_[row(sequence)]; }
  const MeetingHead& head(uint64_t sequence) const { return heads_[row(sequence)]; }
  Arrival& arrival(uint64_t sequence, uint32_t position) {
    return arrivals_[row(sequence) * members_ + position];
  }
  const Arrival& arrival(uint64_t sequence, uint32_t position) const {
    return arrivals_[row(sequence) * members_ + position];
  }
  uint64_t first() const { return first_; }
  uint64_t end() const { return end_; }
  uint32_t members() const { return members_; }

 private:
  size_t row(uint64_t sequence) const { return sequence & (heads_.size() - 1); }
  void add_row();
  void drop_finished();
  void grow();
  uint32_t members_ = 0;
  uint64_t first_ = 0;
  uint64_t end_ = 0;
  std::vector<MeetingHead> heads_;  // by sequence modulo size, a power of two
  std::vector<Arrival> arrivals_;   // by row * members + position
};

/// One send and its matching recv.
struct Pair {
  CommIndex comm = 0;
  Rank source = 0;
  Rank target = 0;
  uint64_t ordinal = 0;
  Arrival send;
  Arrival recv;

  /// Both sides have called, with different dtypes or counts: no message passes.
  bool is_mismatch() const {
    return send.arrived && recv.arrived &&
           (send.dtype != recv.dtype || send.total_elems != recv.total_elems);
  }
};

struct PairCounter {
  CommIndex comm = 0;
  Rank source = 0;
  Rank target = 0;
  uint64_t sent = 0;
  uint64_t received = 0;
};

struct Ledger {
  std::vector<uint32_t> first_group;  // by communicator: index of its group 0 in `groups`
  std::vector<GroupLedger> groups;
  std::vector<uint64_t> next_sequence;  // by communicator * rank count + rank
  std::vector<PairCounter> counters;    // sorted by (comm, source, target)
  std::vector<Pair> pairs;              // unfinished pairs, and a window of finished ones

  static constexpr size_t kPairWindow = 64;
  /// `one_member`: of every group, only one member's arrivals are kept, at position 0.
  void prepare(const Code& code, bool one_member);
  GroupLedger& group(CommIndex comm, int32_t group) {
    return groups[first_group[comm] + static_cast<uint32_t>(group)];
  }
  PairCounter& counter(CommIndex comm, Rank source, Rank target);
  /// The pair with this ordinal; created if neither side has arrived.
  Pair& pair(CommIndex comm, Rank source, Rank target, uint64_t ordinal);
};

}  // namespace hostir::interp
