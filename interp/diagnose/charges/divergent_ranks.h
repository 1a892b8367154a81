// Finds ranks whose calls, over all groups and in program order, differ from those of the other
// ranks that run the same program.
//
// Ranks with the same place in groups of the same form run one program: the replicas of a pipeline
// stage, the members of a tensor parallel group, the ranks of parallel groups. When a job hangs,
// their records end at different calls, but each record is a prefix of the longest. If the records
// of nearly all ranks are prefixes and one is not, that rank skipped a call, made an extra one, or
// swapped two. A difference that all members of a group share, or a call that completed, is part of
// the program and is not reported.
//
// If no other rank runs the same program, as in a single pipeline, a rank is compared with its own
// earlier rounds. A round ends at a call that all ranks make. All ranks but the odd ones must
// repeat their rounds.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

struct DivergentRank {
  enum class Kind : uint8_t {
    kLeftOut,
    kExtra,
    kSwapped,  // with the next call
    kOther,    // another call in the same place
  };
  Kind kind = Kind::kLeftOut;
  model::Rank rank = model::kNoRank;
  size_t at = 0;  // index in its calls: of the wrong one, or of the one before which calls
                  // are missing; may be their number
  struct Call {
    MemberRef call;                      // of another rank, perhaps in a parallel group
    model::CommunicatorId communicator;  // index of the group in which this rank makes it
  };
  std::vector<Call> theirs;  // the others' calls there: those left out, else one
  MemberRef like;            // the first of them as a rank with the same program makes it
  bool own_rounds = false;   // `theirs` are its own calls in an earlier round
  bool proved = false;       // what follows agrees again: no other kind explains it
  bool or_swapped = false;   // kLeftOut: or it makes its next call first
  bool or_left_out = false;  // kExtra: or it left out the rest of its round, from `theirs` on
  bool same_line = false;    // its call at `at` comes from the line of `theirs`
  MemberRef awaiting;        // own_rounds: a rank that waits for it in the first of `theirs`
};

/// The odd ranks, all of the same kind and at the same call; empty: none, or no majority. An extra
/// send or recv is only a guess: instead, its counterpart may have been left out. `calls` is
/// calls_by_rank(run). Cost: O(calls + different records * calls).
std::vector<DivergentRank> find_divergent_ranks(const model::Run& run,
                                                const std::vector<std::vector<MemberRef>>& calls);

/// If only two ranks run a program, and their records differ, either may be odd: both are returned,
/// each with the mistake that it would have made. Returns all such pairs of ranks.
std::vector<DivergentRank> find_divergent_pairs(const model::Run& run,
                                                const std::vector<std::vector<MemberRef>>& calls);

/// True if the rank of `call` made one call more than all ranks that run its program, and `idle`,
/// for which it waits, made the calls of all ranks that run its own program. Other ranks in
/// `waiting` are not compared, because each may be one call ahead as well.
bool is_ahead_of_its_program(const model::Run& run,
                             const std::vector<std::vector<MemberRef>>& calls, model::Rank idle,
                             const MemberRef& call, const std::set<model::Rank>& waiting);

/// True if `idle` runs the program of the rank of `call`, made all calls up to that one, and then
/// others.
bool goes_on_without(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                     model::Rank idle, const MemberRef& call);

}  // namespace hostir::diagnose
