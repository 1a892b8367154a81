// The calls of each rank in the order it made them, and how two ranks' calls lie beside each other.
//
// A rank that left a call out, made one too many or two in the other order disagrees with the rest
// from there on, under wrong sequence numbers. Laid beside the calls of a rank that is right, with
// as few changes as possible, what it did differently stands out. Stacks count little: ranks may
// call from different lines. They decide where kinds and sizes are all alike.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/diagnose/queues.h"

namespace hostir::diagnose {

/// By rank. Calls whose place in the order is not known are left out.
std::vector<std::vector<MemberRef>> calls_by_rank(const model::Run& run);

/// A rank's collectives on one communicator, by sequence number.
struct CallLine {
  model::Rank rank = model::kNoRank;
  std::vector<MemberRef> calls;
};
/// From sequence number `first` on.
CallLine line_of(const model::Run& run, model::Rank rank, model::CommunicatorId communicator,
                 uint64_t first);

struct LaidCall {
  enum class Kind : uint8_t {
    kSame,
    kElsewhere,  // the same call from another line
    kOther,      // another call
    kLeftOut,    // only `theirs` has it
    kExtra,      // only `mine` has it
  };
  Kind kind = Kind::kSame;
  size_t mine = SIZE_MAX;
  size_t theirs = SIZE_MAX;
};
/// With the fewest differences; of equals the one that differs as late as possible.
std::vector<LaidCall> lay_beside(const model::Run& run, const CallLine& mine,
                                 const CallLine& theirs);

/// What two calls of one position must have in common: kind, element type, sizes, root.
bool same_call(const model::Call& a, const model::Call& b);

}  // namespace hostir::diagnose
