// The ranks whose calls, over all groups and in program order, are not those of the other ranks
// that run the same program.
//
// Ranks with the same place in groups of the same form run one program: the replicas of a pipeline
// stage, the members of a tensor parallel group, the ranks of parallel groups. Where a job hangs,
// their records end at different calls, but each is a beginning of the longest. A rank whose record
// is not, while those of nearly all others are, left a call out, made one more, or made two in the
// other order. A difference that all members of a group share, or an exchange that took place, is
// part of the program and is not reported.
//
// Where no others run the same program, as in a single pipeline, a rank is compared with itself:
// the calls of a round, up to the next call of all ranks, are those of its rounds before. All but
// the odd ranks must repeat theirs.
#pragma once

#include <optional>
#include <vector>

#include "interp/diagnose/queues.h"

namespace hostir::diagnose {

struct OddRank {
  enum class Kind : uint8_t {
    kLeftOut,
    kExtra,
    kSwapped,  // with the next call
    kOther,    // another call in the same place
  };
  Kind kind = Kind::kLeftOut;
  model::Rank rank = model::kNoRank;
  size_t at = 0;  // in its calls: the wrong one, or the one before which calls
                  // are missing; may be their number
  struct Call {
    MemberRef call;                      // of another rank, perhaps in a parallel group
    model::CommunicatorId communicator;  // in which this rank makes it
  };
  std::vector<Call> theirs;  // the others' calls there: those left out, else one
  bool own_rounds = false;   // `theirs` are its own calls in an earlier round
  bool proved = false;       // what follows agrees again: no other kind explains it
  bool same_line = false;    // its call at `at` comes from the line of `theirs`
  MemberRef awaiting;        // own_rounds: another rank that waits for it in the first of `theirs`
};

/// The odd ranks, all of the same kind and at the same call; empty: none, or no majority.
/// `calls` is calls_by_rank(run). Cost: O(calls + different records * calls).
std::vector<OddRank> find_odd_ranks(const model::Run& run,
                                    const std::vector<std::vector<MemberRef>>& calls);

}  // namespace hostir::diagnose
