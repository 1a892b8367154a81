#include "gui/panels/timeline/lane_groups.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::gui {

namespace {

std::string name_of(const std::vector<interp::Rank>& ranks) {
  if (ranks.size() == 1) return fmt::format("r{}", ranks[0]);
  const bool run = ranks.back() - ranks.front() + 1 == static_cast<interp::Rank>(ranks.size());
  return run ? fmt::format("r{}-r{}", ranks.front(), ranks.back())
             : fmt::format("r{} +{}", ranks.front(), ranks.size() - 1);
}

}  // namespace

void LaneGroups::clear() { *this = LaneGroups(); }

void LaneGroups::next(const Mesh* world, const std::vector<interp::LogTrack>& tracks) {
  const size_t axis = world && axis_ < world->axes.size() ? axis_ + 1 : 0;
  clear();
  if (axis == 0) return;
  axis_ = axis;
  const std::string& axis_name = world->axes[axis - 1].name;
  name_ = "Merged over " + axis_name;
  for (const std::vector<int64_t>& members : groups_over(*world, {AxisRef{axis_name}})) {
    Group group;
    for (const int64_t rank : members) group.ranks.push_back(static_cast<interp::Rank>(rank));
    std::sort(group.ranks.begin(), group.ranks.end());
    group.name = name_of(group.ranks);
    for (const interp::Rank rank : group.ranks) {
      if (static_cast<size_t>(rank) >= by_rank_.size())
        by_rank_.resize(static_cast<size_t>(rank) + 1, -1);
      by_rank_[static_cast<size_t>(rank)] = static_cast<int32_t>(groups_.size());
    }
    groups_.push_back(std::move(group));
  }
  for (size_t t = 0; t < tracks.size(); ++t) {
    const auto group = group_of(tracks[t].rank);
    if (!group || tracks[t].stream < 0) continue;
    auto& by_stream = groups_[*group].tracks;
    const auto stream = static_cast<size_t>(tracks[t].stream);
    if (stream >= by_stream.size()) by_stream.resize(stream + 1);
    by_stream[stream].push_back(static_cast<interp::TrackId>(t));
  }
}

std::optional<size_t> LaneGroups::group_of(interp::Rank rank) const {
  const auto index = static_cast<size_t>(rank);
  if (rank < 0 || index >= by_rank_.size() || by_rank_[index] < 0) return std::nullopt;
  return static_cast<size_t>(by_rank_[index]);
}

void LaneGroups::toggle(size_t group) {
  if (open_.erase(group) == 0) open_.insert(group);
}

}  // namespace hostir::gui
