#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_comm_one(const OpCall& call) {
  if (call.attributes.has("axes") != call.attributes.has("groups")) return std::nullopt;
  return Violation{"comm needs exactly one of over {axes} and groups [[ranks]]"};
}

ops::Violated check_axes(const OpCall& call) {
  const auto* axes = call.attributes.get<AxisList>("axes");
  const Mesh* mesh = ops::mesh_named_or_own(call);
  if (axes == nullptr || mesh == nullptr) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i) {
    const AxisRef& axis = (*axes)[i];
    if (!mesh->axis_index(axis.name)) {
      return Violation{fmt::format("unknown axis \"{}\" in mesh @{}", axis.name, mesh->name)};
    }
    if (std::find(axes->begin(), axes->begin() + static_cast<int64_t>(i), axis) !=
        axes->begin() + static_cast<int64_t>(i)) {
      return Violation{fmt::format("comm lists the axis {} twice", axis.to_string())};
    }
  }
  return std::nullopt;
}

ops::Violated check_groups(const OpCall& call) {
  const auto* groups = call.attributes.get<IntLists>("groups");
  const Mesh* mesh = ops::mesh_named_or_own(call);
  if (groups == nullptr) return std::nullopt;
  std::set<int64_t> seen;
  for (const auto& group : *groups) {
    if (group.empty()) return Violation{"comm has an empty group"};
    for (const int64_t rank : group) {
      if (mesh != nullptr && !mesh->position_of(rank)) {
        return Violation{
            fmt::format("comm has rank {}, which is not in mesh @{}", rank, mesh->name)};
      }
      if (!seen.insert(rank).second) return Violation{fmt::format("comm has rank {} twice", rank)};
    }
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_comm(const OpCall&) { return ops::inferred(CommType{}); }

}  // namespace

OpRecord op_comm() {
  return {
      .mnemonic = "comm",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kCommunicator,
      .summary = "A communicator: groups of ranks that meet, each in a fixed order.",
      .doc = {.shapes = ops::kNoLayout,
              .sharding = "Over axes: the groups of Shardy's formula, in which axes that are not "
                          "listed vary slowest.",
              .dtypes = ops::kNoDTypes,
              .errors = "host_c1: at the top of the function.",
              .cost = ops::kStreamCost},
      .attributes = {{.name = "axes",
                      .type = AttributeSpec::Type::kAxes,
                      .doc = "mesh axes, major to minor"},
                     {.name = "groups",
                      .type = AttributeSpec::Type::kIntLists,
                      .doc = "the ranks of each group in order"},
                     {.name = "mesh",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "the mesh, the function's own if left out"}},
      .results = {{.name = "comm", .doc = "the communicator"}},
      .constraints = {{"comm_c1", "Exactly one of axes and groups is given.", check_comm_one},
                      {"comm_c2", "Each axis is one of the mesh and appears once.", check_axes},
                      {"comm_c3",
                       "Groups are not empty and hold ranks of the mesh, each at most once.",
                       check_groups}},
      .infer = infer_comm,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <dp=2, tp=2>
host @f on @m (%a: shard<4xf32, @m, [{}], unreduced={tp}>)
    -> (%a: shard<4xf32, @m, [{}], unreduced={tp}>) {
  %c = comm over {tp}
  return %a
})",
      .source = "Equivalent to: ncclCommSplit; groups by the formula of Shardy",
      .assembly = "<over #axes> <groups #groups> <in #mesh>",
  };
}

}  // namespace hostir
