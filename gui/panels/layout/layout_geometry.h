// Where the parts of a tensor are placed in a picture: arithmetic on boxes, no drawing.
//
// A `LayoutSource` gives the box of a global shape that each rank holds. A `Plane` chooses the two
// dimensions shown as rows and columns, and a fixed position in the others. Boxes may be empty or
// absent, and sizes may be 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "interp/core/ids.h"

namespace hostir::gui {

/// Which ranks hold what. The pointers belong to a snapshot or program; do not keep them.
struct LayoutSource {
  Extents global;
  std::vector<const Box*> boxes;       // by rank; null: the rank does not hold it
  const Sharding* sharding = nullptr;  // null: every rank holds the same
  const Mesh* mesh = nullptr;          // the sharding's mesh; null: unknown

  bool is_partial() const { return sharding && sharding->is_partial(); }
};

/// Ranks with the same box. For a partial value, `addends` are the ranks whose values are reduced,
/// one per coordinate along the unreduced axes; the other holders have copies of these.
struct Shard {
  Box box;
  std::vector<interp::Rank> holders;
  std::vector<interp::Rank> addends;
  /// Holders of equal contents together, those of the lowest holder first. Empty unless the
  /// contents were compared and are not all equal.
  std::vector<std::vector<interp::Rank>> versions;

  /// The ranks whose contents are drawn on top of each other: addends, or one per version.
  std::vector<interp::Rank> layers() const;
};
std::vector<Shard> shards_of(const LayoutSource& source);
/// The largest number of layers of any shard; 1 if nothing is partial and no copies differ.
size_t most_layers(const std::vector<Shard>& shards);

/// The two visible dimensions and a fixed position in all others.
struct Plane {
  int row_dim = 0;
  int column_dim = 0;
  std::vector<int> at;  // by dimension

  friend bool operator==(const Plane&, const Plane&) = default;
  size_t rank() const { return at.size(); }
  bool is_matrix() const { return at.size() >= 2; }
  int64_t row_of(const std::vector<int64_t>& index) const {
    return is_matrix() ? index[static_cast<size_t>(row_dim)] : 0;
  }
  int64_t rows(const Extents& global) const;
  int64_t columns(const Extents& global) const;

  struct Part {
    int64_t row_lo = 0, row_hi = 1, column_lo = 0, column_hi = 1;
  };
  /// The part of a box inside the plane; nullopt if the box is empty or outside it.
  std::optional<Part> part(const Box& box) const;
  /// The part of a box in the plane, with one element in every other dimension; nullopt if the box
  /// is empty or outside the plane.
  std::optional<Box> slice(const Box& box) const;
  /// The global index of the element at a row and column of the plane.
  std::vector<int64_t> element(int64_t row, int64_t column) const;
};
/// Prefers sharded dimensions, then the last ones.
Plane best_plane(const Extents& global, const std::vector<Shard>& shards);

/// A range of a dimension owned by one mesh coordinate: `tp=1`, 11 elements.
struct Band {
  int64_t lo = 0;
  int64_t hi = 0;
  std::string coordinate;  // `tp=1`; empty if no axis shards the dimension
};
/// The bands of a dimension, outermost axis first, with one level per axis that shards it. An
/// unsharded dimension has one level with one band. Empty bands are omitted.
std::vector<std::vector<Band>> bands_of(const LayoutSource& source, size_t dim);
/// Sizes of the finest bands, including empty ones: `11, 11, 10`. Empty if the dimension is not
/// sharded.
std::vector<int64_t> cut_sizes(const LayoutSource& source, size_t dim);

/// Pixels per element. The aspect ratio is kept while both sides are at least `least` pixels; a
/// long thin tensor is stretched, and `stretched` is set.
struct Fit {
  float cell_x = 1;
  float cell_y = 1;
  bool stretched = false;
};
Fit fit(float rows, float columns, float width, float height, float most, float least);

}  // namespace hostir::gui
