#include "interp/diagnose/engine/gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace hostir::diagnose {

namespace {

bool begins_late(const model::Gap& gap) {
  return gap.kind == model::Gap::Kind::kBeginsLate && gap.rank && gap.communicator.valid();
}

/// One sentence for all records that begin late; empty if they concern few communicators.
std::string many_begin_late(const model::Run& run) {
  constexpr size_t kMostTold = 8;
  std::set<model::CommunicatorId> communicators;
  std::set<model::Rank> ranks;
  for (const model::Gap& gap : run.gaps) {
    if (!begins_late(gap)) continue;
    communicators.insert(gap.communicator);
    ranks.insert(*gap.rank);
  }
  if (communicators.size() <= kMostTold) return {};
  return fmt::format("{}: earlier calls on {} communicators were lost",
                     model::list_of({ranks.begin(), ranks.end()}), communicators.size());
}

}  // namespace

std::vector<std::string> gap_sentences(const model::Run& run) {
  const std::string late = many_begin_late(run);
  std::vector<std::pair<std::string, std::vector<model::Rank>>>
      told;  // text without `rank 3: `, and its ranks
  std::map<std::string, size_t> known;
  for (const model::Gap& gap : run.gaps) {
    if (!late.empty() && begins_late(gap)) continue;
    const std::string prefix = fmt::format("rank {}: ", gap.rank.value_or(model::kNoRank));
    const bool of_rank = gap.rank && gap.text.starts_with(prefix);
    const std::string rest = of_rank ? gap.text.substr(prefix.size()) : gap.text;
    const auto [at, is_new] = known.try_emplace((of_rank ? "rank: " : "") + rest, told.size());
    if (is_new) told.emplace_back(rest, std::vector<model::Rank>());
    if (of_rank) told[at->second].second.push_back(*gap.rank);
  }
  std::vector<std::string> out;
  for (auto& [text, ranks] : told) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    out.push_back(ranks.empty() ? text : model::list_of(ranks) + ": " + text);
  }
  if (!late.empty()) out.push_back(late);
  return out;
}

}  // namespace hostir::diagnose
