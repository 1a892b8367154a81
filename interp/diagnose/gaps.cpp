#include "interp/diagnose/gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hostir::diagnose {

std::vector<std::string> gap_sentences(const model::Run& run) {
  std::vector<std::pair<std::string, std::vector<model::Rank>>>
      told;  // text without `rank 3: `, and its ranks
  std::map<std::string, size_t> known;
  for (const model::Gap& gap : run.gaps) {
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
  return out;
}

}  // namespace hostir::diagnose
