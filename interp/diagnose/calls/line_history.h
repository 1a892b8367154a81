// How often, and in which order, ranks called from the source lines of a cycle before it.
#pragma once

#include <map>
#include <vector>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/engine/queues.h"

namespace hostir::diagnose {

class LineHistory {
 public:
  /// `calls` is calls_by_rank(run).
  LineHistory(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls) {}

  /// Ranks outside one of the two groups vote. A vote is how often a rank has called the line of
  /// `other` since its previous call of the line of `last`: as often as the rank that made `other`,
  /// or as often as the rank that continued to `last` without it. Only ranks that called all other
  /// lines as often as these two vote, because only they run the same program. A rank that has
  /// never called the line of `other` does not vote.
  void vote(const MemberRef& last, const MemberRef& other, std::vector<model::Rank>& last_first,
            std::vector<model::Rank>& other_first) const;
  /// The rank of `last` called the line of `other` before its previous call of this line, or more
  /// often, and now goes on without it.
  bool breaks_its_rounds(const MemberRef& last, const MemberRef& other) const;

  struct Step {
    bool known = false;  // the rank has made this call right after the previous one already
    MemberRef usual;     // what followed the previous call the last time; may be empty
  };
  /// From a rank's previous call to the one at `at`. Both are compared with its earlier calls.
  Step step_to(model::Rank rank, size_t at) const;

 private:
  /// The calls before one call, since the rank's previous call of the line of `last`.
  struct Round {
    size_t times = 0;                    // of the line of `other`
    std::map<const void*, size_t> rest;  // calls of each other line, by its first instruction
    bool whole = true;                   // its begin is on record
  };
  Round round_before(const model::Member& call, const MemberRef& last,
                     const MemberRef& other) const;
  bool has_called(model::Rank rank, const MemberRef& line) const;
  const void* sequence_of(const model::Member& member) const;
  size_t place_of(const model::Member& member) const {
    return diagnose::place_of(calls_, {nullptr, nullptr, &member});
  }
  bool alike(const MemberRef& a, const MemberRef& b) const;

  const model::Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
  mutable std::map<const model::Instruction*, const model::Instruction*> lines_;
};

}  // namespace hostir::diagnose
