// Mesh axes, and the numbers of the parts that devices hold.
//
// Layouts are followed on a mesh whose axes have prime sizes: a partitioner may cut a dimension by
// a part of an axis on the way.
#pragma once

#include <optional>

#include "hostir/import/layout/layout_parts.h"
#include "hostir/ir/mesh.h"

namespace hostir::importer {

/// A mesh with the same positions, whose axes are the prime factors of another one's axes.
struct FineMesh {
  Mesh mesh;
  std::vector<AxisRef> origins;  // of each axis

  explicit FineMesh(const Mesh& mesh);
  AxisNames axes_of(const AxisRef& axis) const;
};

/// Which part of a dimension cut by `axes` the device at a position holds.
int64_t part_number(const Mesh& mesh, const AxisNames& axes, int64_t position);
/// The axes by which the device at each position holds the part with this number; nullopt if there
/// are none.
std::optional<AxisNames> axes_that_number(const Mesh& mesh, const std::vector<int64_t>& parts);
/// The axes of a dimension after a permutation of all devices, given as pairs of source and target;
/// nullopt if no axes describe it.
std::optional<AxisNames> axes_after(const Mesh& mesh, const AxisNames& axes,
                                    const std::vector<int64_t>& pairs);

}  // namespace hostir::importer
