// Maps operations over the leading dimensions for devices; see manual_map.h.
#pragma once

#include <map>

#include "hostir/import/emit/emitter.h"
#include "hostir/import/emit/reducer.h"

namespace hostir::importer {

/// Positions of axes in the mesh, ascending where the axes are leading dimensions.
using AxisPositions = std::vector<size_t>;

/// Moves values between their two forms: the part of a device with its list of axes (`Known::lead`,
/// ascending), and the tensor of all parts, whose first dimensions are these axes.
class Mapping {
 public:
  Mapping(const Mesh& mesh, std::string our_mesh) : mesh_(mesh), our_mesh_(std::move(our_mesh)) {}
  const Mesh& mesh() const { return mesh_; }
  int64_t size(size_t axis) const { return mesh_.axes[axis].size; }
  std::vector<int64_t> sizes(const AxisPositions& axes) const;

  /// The tensor of all parts.
  Known whole(const Known& x) const;
  /// The value of each device in a tensor of all parts. A number that does not depend on an axis
  /// loses it.
  Known part(Known whole, AxisPositions lead, const ModuleType& local) const;
  /// The tensor of all parts over these axes, which must include the value's own.
  Expected<Known> lifted(Emitter& e, const Known& x, const AxisPositions& axes) const;
  /// The value of the first device along the axis, on all.
  Expected<Known> first_along(Emitter& e, const Known& x, size_t axis) const;
  /// Shards the leading dimensions of a computed value over their axes; the others stay open.
  Expected<void> annotate(Emitter& e, Known& x) const;

 private:
  const Mesh& mesh_;
  std::string our_mesh_;
};

/// The reduction of a value over the devices along `axes`; it no longer has these dimensions.
Expected<Known> reduced_over(const Mapping& map, Emitter& e, ReducerKind kind, const Known& x,
                             const AxisPositions& axes);

/// The hook that emits what differs between devices.
class MappedOps {
 public:
  explicit MappedOps(const Mapping& map) : map_(map) {}
  /// True if the operation was emitted here.
  Expected<bool> take(const OpSite& site);

 private:
  Expected<bool> device_number(const OpSite& s);
  Expected<void> collective(const OpSite& s);
  Expected<void> permuted(const OpSite& s);
  /// x with the rows of its devices along `axes` moved: row r comes from row source[r], or is zero.
  Expected<Known> moved_rows(Emitter& e, const Known& x, const AxisPositions& axes, int64_t rows,
                             const std::map<int64_t, int64_t>& source);
  Expected<AxisPositions> group_axes(const OpSite& s) const;
  Expected<void> mapped(const OpSite& s, const AxisPositions& lead);
  Expected<void> indexed(const OpSite& s, const AxisPositions& lead);
  Expected<void> moving_slice(const OpSite& s, const AxisPositions& lead);
  Expected<void> give(const OpSite& s, Known whole, const AxisPositions& lead, size_t result);

  const Mapping& map_;
  // A copy of each function's table of values, for operations with other types.
  std::map<const ModuleFunction*, std::pair<ModuleFunction, Frame>> scratch_;
};

}  // namespace hostir::importer
