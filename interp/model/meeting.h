// Collectives, sends and receives: what each member called, and how far it is.
//
// Collectives meet by (communicator, sequence number), a send and a receive by (communicator,
// source, target, ordinal). What a source does not record stays unset; nothing here is a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"
#include "hostir/ir/op_kind.h"
#include "interp/model/clock.h"
#include "interp/model/ids.h"

namespace hostir::model {

/// What one member states about a communication. Fields that every member must state alike:
/// kind, reduction, dtype, root, total_elems, row_elems, pairs.
struct Call {
  std::optional<OpKind> kind;
  std::string name;  // as the source spells it, where `kind` is not set: `coalesced`
  std::optional<Reduction> reduction;
  std::optional<DType> dtype;
  std::optional<int32_t> root;         // position in the communicator
  std::optional<int64_t> total_elems;  // of the whole operation
  std::optional<int64_t> row_elems;    // per index of dimension 0 of the whole
  std::optional<int64_t> local_elems;  // this member's block
  std::optional<Extents> shape;        // of this member's first operand
  std::vector<Extents> inputs;         // shapes; empty: not known, or nothing comes in
  std::vector<Extents> outputs;
  // By position in the communicator; empty: not known.
  std::vector<int64_t> sends;     // all_to_all, permute: elements to each member
  std::vector<int64_t> receives;  // all_to_all, permute: elements from each member
  std::optional<std::vector<std::pair<int32_t, int32_t>>> pairs;  // permute: (source, target)
  std::optional<bool> receives_given;  // false: `receives` follows from what this member sends
  /// A hash over all that members must state alike, where the source has one; it also covers what
  /// no field here tells.
  std::optional<uint64_t> fingerprint;
  friend bool operator==(const Call&, const Call&) = default;
};

enum class MemberState : uint8_t {
  kUnknown,     // nothing is recorded, and nothing says that it did not come
  kNotArrived,  // known not to have issued it
  kScheduled,   // issued; whether it started is not known, or it did not
  kStarted,
  kCompleted,
};

/// One rank's side of a meeting. Everything but `rank` and `state` is valid from kScheduled on.
struct Member {
  Rank rank = kNoRank;
  MemberState state = MemberState::kUnknown;
  Call call;
  InstructionId instruction;
  std::string loops;  // `%i=3`: iterations of the loops around it; empty: none, or not known
  TaskId task = kNoTask;
  StreamId stream;
  std::optional<bool> at_head;    // nothing of its stream comes first any more, all waits are done
  std::optional<uint64_t> order;  // place among all calls of the rank, over all communicators
  Times times;
  std::optional<bool> timed_out;  // a watchdog gave it up
  bool arrived() const { return state >= MemberState::kScheduled; }
  bool unfinished() const {
    return state == MemberState::kScheduled || state == MemberState::kStarted;
  }
};

/// One collective.
struct Meeting {
  CommunicatorId communicator;
  uint64_t sequence = 0;
  std::vector<Member> members;  // in the communicator's order; by rank where that is not known
  const Member* member(Rank rank) const;
};

/// One send and the recv that it meets. The side that nothing is known of has its rank and state.
struct SendRecv {
  CommunicatorId communicator;
  Rank source = kNoRank;
  Rank target = kNoRank;
  uint64_t ordinal = 0;
  Member send;
  Member recv;
};

/// `all_reduce`; what the source calls it where it is no op of ours; `unknown operation`.
std::string kind_text(const Call& call);
/// `all_reduce sum f32[4]`, `broadcast f32[2,3] root 1`; what is not known is left out or reads
/// `?`.
std::string call_text(const Call& call);
/// The same with the total and the rows: for calls that read alike and differ.
std::string call_details(const Call& call);
/// Whether the two may belong to one meeting, by the fields that both state.
bool agree(const Call& a, const Call& b);
/// Whether the two state the same in every field that all members must state alike.
bool states_same(const Call& a, const Call& b);

}  // namespace hostir::model
