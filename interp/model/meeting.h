// Collectives, sends and receives: the call of each member, and its progress.
//
// Collectives meet by (communicator, sequence number), a send and a receive by (communicator,
// source, target, ordinal). Fields that a source does not record stay unset; nothing here is
// guessed.
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

/// One member's call of a communication op. These fields must be equal on all members: kind,
/// reduction, dtype, root, total_elems, row_elems, pairs.
struct Call {
  std::optional<OpKind> kind;
  std::string name;  // the source's spelling if `kind` is not set: `coalesced`
  std::optional<Reduction> reduction;
  std::optional<DType> dtype;
  std::optional<int32_t> root;         // position in the communicator
  std::optional<int64_t> total_elems;  // of the whole operation
  std::optional<int64_t> row_elems;    // per index of dimension 0 of the whole
  std::optional<int64_t> local_elems;  // this member's block
  std::optional<Extents> shape;        // of this member's first operand
  std::vector<Extents> inputs;         // shapes; empty: unknown, or no inputs
  std::vector<Extents> outputs;
  // By position in the communicator; empty: unknown.
  std::vector<int64_t> sends;     // all_to_all, permute: elements to each member
  std::vector<int64_t> receives;  // all_to_all, permute: elements from each member
  std::optional<std::vector<std::pair<int32_t, int32_t>>> pairs;  // permute: (source, target)
  std::optional<bool> receives_given;  // false: `receives` is derived from what this member sends
  /// A hash of everything that must be equal on all members, if the source has one; covers more
  /// than the fields here.
  std::optional<uint64_t> fingerprint;
  friend bool operator==(const Call&, const Call&) = default;
};

enum class MemberState : uint8_t {
  kUnknown,     // nothing is recorded, but it may have arrived
  kNotArrived,  // known not to have issued it
  kScheduled,   // issued; not started, or start unknown
  kStarted,
  kCompleted,
};

/// One rank's side of a meeting. All fields except `rank` and `state` are valid from kScheduled on.
struct Member {
  Rank rank = kNoRank;
  MemberState state = MemberState::kUnknown;
  Call call;
  InstructionId instruction;
  std::string loops;  // `%i=3`: iterations of the enclosing loops; empty: none, or unknown
  TaskId task = kNoTask;
  StreamId stream;
  std::optional<bool> at_head;    // at the head of its stream, with all waits done
  std::optional<uint64_t> order;  // index among all calls of the rank, over all communicators
  Times times;
  std::optional<bool> timed_out;  // a watchdog gave up on it
  bool arrived() const { return state >= MemberState::kScheduled; }
  bool unfinished() const {
    return state == MemberState::kScheduled || state == MemberState::kStarted;
  }
};

/// One collective.
struct Meeting {
  CommunicatorId communicator;
  uint64_t sequence = 0;
  std::vector<Member> members;  // in the communicator's order; by rank if that is unknown
  const Member* member(Rank rank) const;
};

/// One send and the matching recv. A side without a record has only its rank and state.
struct SendRecv {
  CommunicatorId communicator;
  Rank source = kNoRank;
  Rank target = kNoRank;
  uint64_t ordinal = 0;
  Member send;
  Member recv;
};

/// `all_reduce`; the source's name if it is not one of our ops; `unknown operation`.
std::string kind_text(const Call& call);
/// `all_reduce sum f32[4]`, `broadcast f32[2,3] root 1`; unknown parts are omitted or shown as `?`.
std::string call_text(const Call& call);
/// call_text() plus the total and the rows, to distinguish calls whose texts are equal.
std::string call_details(const Call& call);
/// True if the two may belong to one meeting, judging by the fields that both have.
bool agree(const Call& a, const Call& b);
/// True if the two are equal in every field that all members must agree on.
bool states_same(const Call& a, const Call& b);

}  // namespace hostir::model
