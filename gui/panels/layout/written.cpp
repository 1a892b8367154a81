#include "gui/panels/layout/written.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hostir/support/text.h"

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

namespace {

// Sets the elements of `part`, row by row, in `cells`, which covers the enclosing `box`.
void set_part(std::vector<bool>& cells, const Box& box, const Box& part, bool value) {
  const size_t rank = box.lo.size();
  const int64_t row = rank == 0 ? 1 : part.hi.back() - part.lo.back();
  const int64_t elements = part.volume();
  for (int64_t first = 0; first < elements; first += row) {
    const std::vector<int64_t> index = part.index_at(first);
    int64_t place = 0;
    for (size_t d = 0; d < rank; ++d)
      place = place * (box.hi[d] - box.lo[d]) + index[d] - box.lo[d];
    std::fill_n(cells.begin() + place, row, value);
  }
}

}  // namespace

std::vector<bool> written_cells(const TensorView& tensor, const WrittenRanks& ranks,
                                const Box& box) {
  const Sharding* sharding = sharding_of(tensor.first->type);
  const bool partial = sharding && sharding->is_partial();
  std::vector<bool> cells(static_cast<size_t>(box.volume()), partial);
  // skips replicas, which hold the same
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> known;
  const auto mark = [&](const std::vector<interp::Rank>& those) {
    for (const interp::Rank r : those) {
      const Box& held = tensor.by_rank[static_cast<size_t>(r)]->placement.box;
      if (held.lo.size() != box.lo.size()) continue;  // the reading belongs to an earlier tensor
      const Box part = held.intersect(box);
      if (!part.empty() && known.emplace(part.lo, part.hi).second)
        set_part(cells, box, part, !partial);
    }
  };
  if (!partial) mark(ranks.yes);
  if (partial) mark(ranks.never);
  if (partial) mark(ranks.in_flight);
  return cells;
}

std::string rank_list(const std::vector<interp::Rank>& ranks) {
  return ranges_text(ranks, {.prefix = "r", .shortest = 3, .most = 6});
}

}  // namespace hostir::gui
