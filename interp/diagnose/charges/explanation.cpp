#include "interp/diagnose/charges/explanation.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/job_calls.h"
#include "interp/diagnose/charges/divergent_verdict.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

using model::Rank;
using model::Run;

bool some_lost(const Run& run) {
  const auto begins_late = [](const model::Gap& gap) {
    return gap.kind == model::Gap::Kind::kBeginsLate;
  };
  return std::ranges::any_of(
             run.ranges,
             [](const model::CallRange& range) { return range.first && *range.first > 1; }) ||
         std::ranges::any_of(run.gaps, begins_late);
}

void spare(const std::vector<Rank>& ranks, const std::string& because, RecordedVerdict& verdict) {
  if (ranks.empty()) return;
  for (const Rank rank : ranks) {
    std::erase(verdict.culprits, rank);
    insert_once(verdict.suspects, rank);
  }
  const auto spared = [&](Rank rank) { return contains(ranks, rank); };
  verdict.unknown = verdict.culprits.empty() && std::ranges::all_of(verdict.suspects, spared);
  verdict.sentence = fmt::format("{}{}; {}", verdict.unknown ? "nobody is accused, because " : "",
                                 because, verdict.sentence);
}

void spare_ranks_with_a_record(const Run& run, RecordedVerdict& verdict) {
  if (verdict.charge != Charge::kNoRecord) return;
  const auto is_known = [&](Rank rank) {
    const MemberRef& call = verdict.missing;
    if (call.pair != nullptr) return call.member->rank == rank;
    const model::Member* member = call.meeting == nullptr ? nullptr : call.meeting->member(rank);
    return member != nullptr && member->state != model::MemberState::kUnknown;
  };
  std::vector<Rank> ranks;
  for (const auto& list : {verdict.culprits, verdict.suspects}) {
    for (const Rank rank : list) {
      if (run.find(rank)->record != model::RecordState::kMissing && !is_known(rank))
        insert_once(ranks, rank);
    }
  }
  spare(ranks, model::list_of(ranks) + " may have made the call", verdict);
}

bool goes_beyond_record(const Run& run, const std::vector<Rank>& held_up,
                        const RecordedVerdict& verdict) {
  return std::ranges::any_of(verdict.culprits, [&](Rank rank) {
    const bool missing = run.find(rank)->record == model::RecordState::kMissing;
    return (missing && verdict.charge != Charge::kNoRecord) ||
           (verdict.charge == Charge::kNeverCame && contains(held_up, rank));
  });
}

std::string missing_also_explains(const Run& run, const RecordedVerdict& verdict) {
  std::vector<Rank> missing;
  for (size_t r = 0; r < run.ranks.size(); ++r) {
    if (run.ranks[r].record == model::RecordState::kMissing)
      missing.push_back(static_cast<Rank>(r));
  }
  const auto has_no_record = [&](Rank rank) {
    return std::binary_search(missing.begin(), missing.end(), rank);
  };
  if (missing.empty() || verdict.charge == Charge::kNoRecord || some_lost(run) ||
      std::any_of(verdict.culprits.begin(), verdict.culprits.end(), has_no_record) ||
      !explains(run, {}))
    return {};
  return fmt::format("; {}, which left no record, would explain the hang as well",
                     model::list_of(missing));
}

void check_explanation(const Run& run, const std::vector<std::vector<MemberRef>>& calls,
                       const std::vector<Waited>& waited, RecordedVerdict& verdict) {
  if (verdict.charge != Charge::kNeverCame && verdict.charge != Charge::kNoRecord) return;
  // Lost calls cannot be run again.
  if (some_lost(run) || verdict.repair.empty() || explains(run, verdict.repair)) return;
  std::vector<CallEdit> repair = verdict.repair;
  std::vector<Rank> ranks = verdict.culprits;
  std::vector<RecordedVerdict> others;
  for (const Waited& each : waited) {
    RecordedVerdict other;
    other.charge = Charge::kNeverCame;
    other.missing = each.call;
    for (const Rank rank : each.absent) {
      if (std::count(ranks.begin(), ranks.end(), rank) != 0) continue;
      const auto& line = calls[static_cast<size_t>(rank)];
      if (other.culprits.empty()) other.at = last_call(calls, rank);
      insert_once(ranks, rank);
      other.culprits.push_back(rank);
      repair.push_back(CallEdit::add(rank, line.size(), each.call));
    }
    if (!other.culprits.empty()) others.push_back(std::move(other));
  }
  verdict.sentence = sentence_of(run, calls, verdict);
  if (verdict.charge == Charge::kNeverCame && !others.empty() && explains(run, repair)) {
    for (const RecordedVerdict& other : others) {
      verdict.sentence += "; and " + sentence_of(run, calls, other);
    }
    verdict.culprits = ranks;
    verdict.repair = std::move(repair);
    verdict.repair_text = fmt::format("with these calls on {}", model::list_of(ranks));
    return;
  }
  verdict.sentence += "; this does not explain the whole hang, so the rank at fault is not known";
  verdict.suspects = unfinished_ranks(calls);
  for (const Rank rank : ranks) insert_once(verdict.suspects, rank);
  verdict.culprits.clear();
}

}  // namespace hostir::diagnose
