// Aligns the collectives of two ranks on one communicator.
//
// Gaps are calls that only one of the two makes. If the same call is a gap of each rank, in
// different places, the call was moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interp/diagnose/calls/call_order.h"

namespace hostir::diagnose {

struct AlignedCalls {
  CallSequence mine;
  CallSequence theirs;
  std::vector<AlignedStep> steps;
  /// If the beginnings of both records are lost: how many fewer calls `mine` made before its record
  /// begins.
  int64_t fewer_before = 0;
};

/// Starts at the first call that both records contain. A gap there is not an omission if earlier
/// calls were lost; `fewer_before` counts it instead.
AlignedCalls align_ranks(const model::Run& run, model::Rank mine, model::Rank theirs,
                         model::CommunicatorId communicator);

/// Of `ranks`, the one whose record of the communicator begins first: it shows most of what `mine`
/// lacks.
model::Rank longest_record(const model::Run& run, const std::vector<model::Rank>& ranks,
                           model::CommunicatorId communicator);

/// True if both continue with the same call after the gaps from `at` on.
bool same_call_follows(const AlignedCalls& aligned, size_t at);
/// The number of gaps of one kind in a row from `at` on.
size_t gaps_from(const AlignedCalls& aligned, size_t at);
/// The opposite gap, or the differing pair, with the same call as gap `at`; SIZE_MAX: there is
/// none.
size_t partner(const AlignedCalls& aligned, size_t at);
/// True if both made the call of gap `at`, from one line, and all members completed it in either
/// place: its order explains nothing.
bool is_only_moved(const model::Run& run, const AlignedCalls& aligned, size_t at);
/// The rank's next call at or after step `at`; the number of its calls if there is none.
size_t next_mine(const AlignedCalls& aligned, size_t at);
size_t next_theirs(const AlignedCalls& aligned, size_t at);

/// A line is called twice in a row, but other rounds call another line in between: perhaps that
/// call is missing, and `at` is not an extra call.
std::optional<MemberRef> left_out_instead(const model::Run& run, const AlignedCalls& aligned,
                                          size_t at);
/// The number of ranks of other groups that have called the same line as often as the rank that
/// made this call. Parallel groups show the expected number.
size_t callers_outside(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                       const MemberRef& call);
/// Notes that `rank` made fewer calls than the rank of `call` before the records begin.
void note_fewer_before(const model::Run& run, model::Rank rank, const MemberRef& call,
                       std::vector<std::string>& notes);

}  // namespace hostir::diagnose
