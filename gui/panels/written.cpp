#include "gui/panels/written.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/layout_geometry.h"

namespace hostir::gui {

namespace {

bool is_outstanding(const interp::RankSnapshot& rank, interp::TaskId task) {
  return std::any_of(rank.streams.begin(), rank.streams.end(), [&](const auto& stream) {
    return std::any_of(stream.tasks.begin(), stream.tasks.end(),
                       [&](const interp::TaskSnapshot& t) { return t.id == task; });
  });
}

}  // namespace

Written written_on(const interp::Snapshot& shot, const TensorView& tensor, interp::Rank rank) {
  const interp::AllocationSnapshot* held = tensor.by_rank[static_cast<size_t>(rank)];
  if (!held || !held->written) return Written::kNever;
  const bool first = held->version == 1 && !held->parameter;
  if (first && held->last_writer != interp::kNoTask &&
      is_outstanding(shot.rank(rank), held->last_writer))
    return Written::kInFlight;
  return Written::kYes;
}

WrittenRanks written_ranks(const interp::Snapshot& shot, const TensorView& tensor) {
  WrittenRanks out;
  for (interp::Rank r = 0; r < shot.rank_count(); ++r) {
    if (!tensor.by_rank[static_cast<size_t>(r)]) continue;
    const Written w = written_on(shot, tensor, r);
    (w == Written::kYes        ? out.yes
     : w == Written::kInFlight ? out.in_flight
                               : out.never)
        .push_back(r);
  }
  return out;
}

bool is_written(const TensorView& tensor, const WrittenRanks& ranks,
                const std::vector<int64_t>& element) {
  const auto holds_it = [&](interp::Rank r) {
    return holds(tensor.by_rank[static_cast<size_t>(r)]->placement.box, element);
  };
  const Sharding* sharding = sharding_of(tensor.first->type);
  if (sharding && sharding->is_partial()) {
    return std::none_of(ranks.never.begin(), ranks.never.end(), holds_it) &&
           std::none_of(ranks.in_flight.begin(), ranks.in_flight.end(), holds_it);
  }
  return std::any_of(ranks.yes.begin(), ranks.yes.end(), holds_it);
}

std::string rank_list(const std::vector<interp::Rank>& ranks) {
  constexpr int kMaxStretches = 6;
  std::string out;
  int stretches = 0;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (++stretches > kMaxStretches) return out + fmt::format(" and {} more", ranks.size() - i);
    out += out.empty() ? "" : ", ";
    out += end - i == 1   ? fmt::format("r{}", ranks[i])
           : end - i == 2 ? fmt::format("r{}, r{}", ranks[i], ranks[i + 1])
                          : fmt::format("r{}..r{}", ranks[i], ranks[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace hostir::gui
