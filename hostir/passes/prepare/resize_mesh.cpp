#include "hostir/passes/prepare/resize_mesh.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir {

namespace {

tl::unexpected<Error> written_for_old_size(std::string_view what, std::string_view axis) {
  return fail(ErrorKind::kUsage, "resize_c3",
              fmt::format("axis {} cannot be resized: {}", axis, what));
}

bool has_sub_axis(const AxisList& axes, std::string_view axis) {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const AxisRef& a) { return a.name == axis && !a.whole(); });
}

bool has_sub_axis(const Sharding* sharding, std::string_view mesh, std::string_view axis) {
  if (sharding == nullptr || sharding->mesh != mesh) return false;
  if (has_sub_axis(sharding->unreduced, axis)) return true;
  return std::any_of(sharding->dims.begin(), sharding->dims.end(),
                     [&](const DimSharding& d) { return has_sub_axis(d.axes, axis); });
}

// True if `mesh` is `root` or one of its direct or indirect sub-meshes.
bool in_family(const Program& program, const Mesh& mesh, std::string_view root) {
  const Mesh* m = &mesh;
  while (m != nullptr && m->name != root) {
    m = m->parent.empty() ? nullptr : program.find_mesh(m->parent);
  }
  return m != nullptr;
}

Expected<void> check_functions(const Program& program, std::string_view mesh,
                               std::string_view axis) {
  for (const Function& f : program.functions) {
    for (const Value& v : f.values) {
      if (has_sub_axis(sharding_of(v.type), mesh, axis)) {
        return written_for_old_size(
            fmt::format("%{} of @{} is cut over a part of it", v.name, f.name), axis);
      }
    }
    const Mesh* world = program.find_mesh(f.mesh);
    if (world == nullptr || !in_family(program, *world, mesh)) continue;
    for (const Instruction& i : f.instructions) {
      for (const auto& [name, value] : i.attributes.entries()) {
        if (std::holds_alternative<IntLists>(value)) {
          return written_for_old_size(
              fmt::format("@{} has literal {}, written for the old size", f.name, name), axis);
        }
      }
    }
  }
  return {};
}

}  // namespace

Expected<Program> resize_mesh(const Program& program, std::string_view mesh, std::string_view axis,
                              int64_t size) {
  Program out = program;
  const auto found = std::find_if(out.meshes.begin(), out.meshes.end(),
                                  [&](const Mesh& m) { return m.name == mesh; });
  if (found == out.meshes.end()) {
    return fail(ErrorKind::kUsage, "resize_c1", fmt::format("no mesh @{}", mesh));
  }
  const auto index = found->axis_index(axis);
  if (!index) {
    return fail(ErrorKind::kUsage, "resize_c1", fmt::format("mesh @{} has no axis {}", mesh, axis));
  }
  if (size < 1) {
    return fail(ErrorKind::kUsage, "resize_c2", fmt::format("axis {} of size {}", axis, size));
  }
  const int64_t others = found->size() / found->axes[*index].size;
  if (size > Mesh::kMaxPositions / others) {
    return fail(ErrorKind::kUsage, "resize_c2",
                fmt::format("{}={} gives mesh @{} more than {} positions; the ids of tasks have no "
                            "room for more ranks",
                            axis, size, mesh, Mesh::kMaxPositions));
  }
  if (found->axes[*index].size == size) return out;
  if (!found->parent.empty()) {
    return written_for_old_size(fmt::format("@{} is a sub-mesh; resize @{}", mesh, found->parent),
                                axis);
  }
  if (!found->device_ids.empty()) {
    return written_for_old_size(fmt::format("mesh @{} lists its device_ids", mesh), axis);
  }
  HOSTIR_TRY(check_functions(program, mesh, axis));
  found->axes[*index].size = size;
  for (Mesh& sub : out.meshes) {
    if (sub.parent.empty() || !in_family(out, sub, mesh)) continue;
    for (const FixedCoord& f : sub.fixed) {
      if (f.axis == axis && f.position >= size) {
        return written_for_old_size(
            fmt::format("sub-mesh @{} is at {}={}", sub.name, axis, f.position), axis);
      }
    }
    if (const auto at = sub.axis_index(axis)) sub.axes[*at].size = size;
    resolve_sub_mesh(*out.find_mesh(sub.parent), sub);
  }
  return out;
}

}  // namespace hostir
