// Ranks that share lanes on the timeline: those that differ only in one coordinate of the mesh.
//
// A group has one lane for each stream, which shows how many of its ranks were busy and with what
// most; a click on its label shows its ranks one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "interp/session/log_view.h"

namespace hostir::gui {

class LaneGroups {
 public:
  struct Group {
    std::vector<interp::Rank> ranks;
    std::string name;                                  // "r0-r7", "r0 +3"
    std::vector<std::vector<interp::TrackId>> tracks;  // by stream, of all ranks
  };

  /// Each rank has lanes of its own, then the groups along one mesh axis after the other.
  void next(const Mesh* world, const std::vector<interp::LogTrack>& tracks);
  void clear();
  bool on() const { return !groups_.empty(); }
  /// "Each rank", "Merged over tp".
  const std::string& name() const { return name_; }

  const Group& at(size_t group) const { return groups_[group]; }
  std::optional<size_t> group_of(interp::Rank rank) const;
  bool merged(size_t group) const { return !open_.contains(group); }
  /// Shows the ranks one by one, or together again.
  void toggle(size_t group);

 private:
  size_t axis_ = 0;  // the one that is merged, from 1; 0: none
  std::string name_ = "Each rank";
  std::vector<Group> groups_;
  std::vector<int32_t> by_rank_;  // -1: in none
  std::set<size_t> open_;
};

}  // namespace hostir::gui
