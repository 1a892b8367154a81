// Groups of ranks that share timeline lanes: ranks that differ in only one mesh coordinate.
//
// A group has one lane per stream, which shows how many of its ranks were busy and their most
// frequent work. A click on the label shows the ranks separately.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "interp/session/log/log_view.h"

namespace hostir::gui {

class LaneGroups {
 public:
  struct Group {
    std::vector<interp::Rank> ranks;
    std::string name;                                  // "r0-r7", "r0 +3"
    std::vector<std::vector<interp::TrackId>> tracks;  // by stream, for all ranks
  };

  /// Cycles through the modes: separate lanes per rank, then merged along each mesh axis in turn.
  void next(const Mesh* world, const std::vector<interp::LogTrack>& tracks);
  void clear();
  bool on() const { return !groups_.empty(); }
  /// "Each rank", "Merged over tp".
  const std::string& name() const { return name_; }

  const Group& at(size_t group) const { return groups_[group]; }
  std::optional<size_t> group_of(interp::Rank rank) const;
  bool merged(size_t group) const { return !open_.contains(group); }
  /// Shows the group's ranks separately, or merges them again.
  void toggle(size_t group);

 private:
  size_t axis_ = 0;  // the merged axis, counted from 1; 0: none
  std::string name_ = "Each rank";
  std::vector<Group> groups_;
  std::vector<int32_t> by_rank_;  // group index; -1: in no group
  std::set<size_t> open_;
};

}  // namespace hostir::gui
