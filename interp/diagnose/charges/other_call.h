// Explains why a rank's call differs from those of the other members of its group: it left out
// calls, made extra ones, swapped two, or made the right call with a wrong argument.
//
// If the calls after the difference are on record, their alignment decides. If every call blocks,
// the records end at the difference; then earlier rounds show in which order calls follow each
// other. A call that occurs in none of them leaves two explanations, and the verdict names both.
#pragma once

#include <vector>

#include "interp/diagnose/calls/aligned_calls.h"
#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

class CallReader {
 public:
  /// `calls` is calls_by_rank(run).
  CallReader(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls)
      : run_(run), calls_(calls) {}

  /// Says in `verdict`, which already accuses the odd members of `found`, what they did wrong.
  /// Leaves it unchanged if the records do not show that, or show a different mistake on each rank.
  void read(const Disagreement& found, RecordedVerdict& verdict) const;
  /// The gaps from step `at` on are calls that `mine` left out, or extra calls of `mine`.
  void left_out(const AlignedCalls& aligned, size_t at, RecordedVerdict& verdict) const;
  void extra(const AlignedCalls& aligned, size_t at, RecordedVerdict& verdict) const;

 private:
  struct Place {
    size_t mine = 0;  // of the first difference; in the calls of both ranks
    size_t theirs = 0;
  };
  /// An earlier place in the calls at which the others' call was made.
  struct Earlier {
    size_t at = SIZE_MAX;
    size_t agree = 0;  // how many calls before it equal those before the difference
  };

  void read_one(model::Rank odd, const MemberRef& right, RecordedVerdict& verdict) const;
  bool only_one_differs(const AlignedCalls& aligned) const;
  void crossed(const AlignedCalls& aligned, size_t one, size_t two, RecordedVerdict& verdict) const;
  void swapped(const AlignedCalls& aligned, size_t left, size_t extra,
               RecordedVerdict& verdict) const;
  void by_rounds(const AlignedCalls& aligned, size_t step, RecordedVerdict& verdict) const;
  void steps_left_out(const AlignedCalls& aligned, const Place& here, const Earlier& before,
                      size_t count, RecordedVerdict& verdict) const;
  bool is_unusual(const AlignedCalls& aligned, size_t step) const;
  Earlier last_like(const AlignedCalls& aligned, const Place& here, const MemberRef& call) const;
  bool stands_for(const AlignedCalls& aligned, size_t end, const MemberRef& mine,
                  const MemberRef& theirs) const;
  bool is_new(const AlignedCalls& aligned, const Place& here) const;
  bool further_on(const MemberRef& mine, const MemberRef& theirs) const;
  bool same(const MemberRef& a, const MemberRef& b) const;
  bool may_come(const CallSequence& sequence, const MemberRef& waits, const MemberRef& call) const;
  size_t place_for(const AlignedCalls& aligned, size_t at) const;

  const model::Run& run_;
  const std::vector<std::vector<MemberRef>>& calls_;
};

}  // namespace hostir::diagnose
