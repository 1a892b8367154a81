#include "interp/session/commands/rank_selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "hostir/support/lists.h"
#include "interp/model/run.h"

namespace hostir::interp {
namespace {

tl::unexpected<Error> bad_selection(std::string message) {
  return fail(ErrorKind::kUsage, "ranks", std::move(message));
}

Expected<size_t> axis_of(const Mesh& mesh, const std::string& axis) {
  const auto index = mesh.axis_index(axis);
  if (index) return *index;
  std::string names;
  for (const MeshAxis& a : mesh.axes) names += (names.empty() ? "" : ", ") + a.name;
  return bad_selection(fmt::format("mesh @{} has no axis \"{}\"; it has {}", mesh.name, axis,
                                   names.empty() ? "none" : names));
}

Expected<const Mesh*> known(const Mesh* mesh) {
  if (mesh) return mesh;
  return bad_selection("the mesh of this run is not known; name ranks by number, as in `on 0,3`");
}

Expected<std::vector<Rank>> at_coordinate(const RankSelector& s, const Mesh& mesh) {
  HOSTIR_ASSIGN_OR_RETURN(const size_t axis, axis_of(mesh, s.axes.front()));
  std::vector<Rank> out;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    if (mesh.coord(p, axis) == s.coordinate) out.push_back(static_cast<Rank>(mesh.rank_at(p)));
  }
  if (out.empty()) {
    return bad_selection(
        fmt::format("{}={} is outside of mesh @{}", s.axes.front(), s.coordinate, mesh.name));
  }
  return out;
}

Expected<std::vector<Rank>> group_of(const RankSelector& s, const Mesh& mesh, Rank focus) {
  std::vector<std::string> names = s.axes;
  if (names.empty() && !mesh.axes.empty()) names.push_back(mesh.axes.back().name);
  std::vector<AxisRef> axes;
  for (const std::string& name : names) {
    HOSTIR_TRY(axis_of(mesh, name));
    axes.push_back(AxisRef{name, 1, 0});
  }
  for (const auto& members : groups_over(mesh, axes)) {
    if (contains(members, int64_t{focus})) return std::vector<Rank>(members.begin(), members.end());
  }
  return std::vector<Rank>{focus};
}

}  // namespace

Expected<std::vector<Rank>> select_ranks(const RankSelector& s, const Mesh* world, Rank rank_count,
                                         Rank focus) {
  std::vector<Rank> out;
  switch (s.kind) {
    case RankSelector::Kind::kFocus:
      out = {focus};
      break;
    case RankSelector::Kind::kAll:
      out.resize(static_cast<size_t>(rank_count));
      std::iota(out.begin(), out.end(), 0);
      break;
    case RankSelector::Kind::kList:
      out = s.ranks;
      break;
    case RankSelector::Kind::kCoordinate: {
      HOSTIR_ASSIGN_OR_RETURN(const Mesh* mesh, known(world));
      HOSTIR_ASSIGN_OR_RETURN(out, at_coordinate(s, *mesh));
      break;
    }
    case RankSelector::Kind::kGroup: {
      HOSTIR_ASSIGN_OR_RETURN(const Mesh* mesh, known(world));
      HOSTIR_ASSIGN_OR_RETURN(out, group_of(s, *mesh, focus));
      break;
    }
  }
  for (const Rank r : out) {
    if (r >= 0 && r < rank_count) continue;
    return bad_selection(fmt::format("there is no rank {}; ranks are 0..{}", r, rank_count - 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Expected<std::vector<Rank>> select_ranks(const RankSelector& s, const Snapshot& snapshot) {
  return select_ranks(s, snapshot.program->mesh(), snapshot.program->rank_count, snapshot.focus);
}

std::string ranks_to_string(const std::vector<Rank>& ranks, Rank rank_count) {
  if (ranks.size() == static_cast<size_t>(rank_count) && rank_count > 1) return "all ranks";
  return model::list_of(ranks);
}

}  // namespace hostir::interp
