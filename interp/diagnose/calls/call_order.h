// The calls of each rank in program order, and how the calls of two ranks align.
//
// A rank that omitted a call, made an extra one or swapped two disagrees with the others from there
// on, under shifted sequence numbers. Aligning its calls with those of a correct rank, with as few
// changes as possible, shows what it did differently. Stacks have little weight, because ranks may
// call from different lines; they decide if kinds and sizes are all the same.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

/// The most calls left out in one place that are considered.
inline constexpr size_t kMostLeftOut = 64;

/// By rank. Omits calls whose position in the order is unknown.
std::vector<std::vector<MemberRef>> calls_by_rank(const model::Run& run);

/// The index of the call among its rank's calls.
size_t place_of(const std::vector<std::vector<MemberRef>>& calls, const MemberRef& ref);
/// Members that have files.
size_t members_on_record(const model::Run& run, const model::Meeting& meeting);
/// Empty if the rank made none.
MemberRef last_call(const std::vector<std::vector<MemberRef>>& calls, model::Rank rank);

/// True if all members on record have completed it.
bool completed_by_all(const MemberRef& ref);

/// A rank's collectives on one communicator, by sequence number.
struct CallSequence {
  model::Rank rank = model::kNoRank;
  std::vector<MemberRef> calls;
};
/// Starts at sequence number `first`.
CallSequence sequence_of(const model::Run& run, model::Rank rank,
                         model::CommunicatorId communicator, uint64_t first);

struct AlignedStep {
  enum class Kind : uint8_t {
    kSame,
    kElsewhere,  // the same call, but from another line
    kOther,      // another call
    kLeftOut,    // only `theirs` has it
    kExtra,      // only `mine` has it
  };
  Kind kind = Kind::kSame;
  size_t mine = SIZE_MAX;
  size_t theirs = SIZE_MAX;
};
/// The alignment with the fewest differences; among equals, the one that differs latest.
std::vector<AlignedStep> align_sequences(const model::Run& run, const CallSequence& mine,
                                         const CallSequence& theirs);

/// True if a rank that waits in `a` has not reached `b` yet.
bool comes_before(const MemberRef& a, const MemberRef& b);

/// True if the lines that an instruction was called from are on record: its stack or, in our own
/// programs, its address.
bool line_is_known(const model::Instruction& site);
/// True if two such instructions were called from the same lines.
bool same_lines(const model::Instruction& a, const model::Instruction& b);
bool stack_is_known(const model::Run& run, const model::Member& member);
/// True if both were called from the same lines, as far as is recorded.
bool same_stack(const model::Run& run, const model::Member& a, const model::Member& b);
/// True if both were called from the same lines or, if a stack is unknown, if the calls are alike.
bool same_site(const model::Run& run, const model::Member& a, const model::Member& b);

/// True if both are collectives, both sends, or both recvs.
bool same_direction(const MemberRef& a, const MemberRef& b);
/// The same, from the same lines as far as is recorded.
bool alike(const model::Run& run, const MemberRef& a, const MemberRef& b);

/// True if the two are the same collective from the same recorded line, on different groups.
bool differ_in_group(const model::Run& run, const MemberRef& a, const MemberRef& b);

/// True if two calls at one position agree in kind, element type, sizes and root.
bool same_call(const model::Call& a, const model::Call& b);

}  // namespace hostir::diagnose
