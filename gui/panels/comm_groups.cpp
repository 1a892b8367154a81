#include "gui/panels/comm_groups.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/wait_graph.h"

namespace hostir::gui {

namespace {

// The coordinates shared by all members; empty if ranks outside the group share them too.
std::string shared_place(const Mesh& mesh, const std::vector<interp::Rank>& members) {
  const auto first = mesh.position_of(members.front());
  if (!first) return {};
  std::string text;
  int64_t others = mesh.size();
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int64_t at = mesh.coord(*first, axis);
    const bool shared = std::all_of(members.begin(), members.end(), [&](interp::Rank r) {
      const auto position = mesh.position_of(r);
      return position && mesh.coord(*position, axis) == at;
    });
    if (!shared) continue;
    others /= mesh.axes[axis].size;
    if (mesh.axes[axis].size > 1)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", mesh.axes[axis].name, at);
  }
  const bool exact = others == static_cast<int64_t>(members.size()) && !text.empty();
  return exact ? "{" + text + "}" : std::string();
}

}  // namespace

std::string group_text(const interp::Code& code, interp::CommIndex comm, uint32_t group) {
  if (comm >= code.communicators.size()) return {};
  const auto& groups = code.communicators[comm].groups;
  if (groups.size() < 2 || group >= groups.size() || groups[group].empty()) return {};
  const std::string place = code.world ? shared_place(*code.world, groups[group]) : std::string();
  return place.empty() ? ranks_text(groups[group]) : place;
}

std::string comm_text(const interp::Code& code, interp::CommIndex comm, interp::Rank rank) {
  if (comm >= code.communicators.size()) return {};
  const interp::Communicator& c = code.communicators[comm];
  std::string text = "%" + c.name;
  if (rank < 0 || static_cast<size_t>(rank) >= c.group_of_rank.size()) return text;
  const int32_t group = c.group_of_rank[static_cast<size_t>(rank)];
  if (group < 0) return text;
  const std::string which = group_text(code, comm, static_cast<uint32_t>(group));
  return which.empty() ? text : text + " " + which;
}

}  // namespace hostir::gui
