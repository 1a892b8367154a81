#include "gui/panels/collectives/comm_groups.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/waits/wait_graph.h"

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

std::string group_text(const Mesh* mesh, const std::vector<interp::Rank>& members) {
  if (members.empty()) return {};
  const std::string place = mesh ? shared_place(*mesh, members) : std::string();
  return place.empty() ? ranks_text(members) : place;
}

}  // namespace hostir::gui
