// Where the parts of a tensor lie in a picture: arithmetic on boxes, no drawing.
//
// A `LayoutSource` says which box of a global shape each rank holds; a `Plane` chooses which two
// dimensions are rows and columns and where the others are cut. Boxes may be empty or absent, sizes
// may be 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "interp/core/ids.h"

namespace hostir::gui {

/// Who holds what. Pointers belong to a snapshot or a program and are not kept.
struct LayoutSource {
  Extents global;
  std::vector<const Box*> boxes;       // by rank; null: the rank does not hold it
  const Sharding* sharding = nullptr;  // null: the same on every rank
  const Mesh* mesh = nullptr;          // of the sharding; null: not known

  bool is_partial() const { return sharding && sharding->is_partial(); }
};

/// Ranks with the same box. Of a partial value `addends` are the ranks whose values are folded: one
/// for each coordinate along the unreduced axes, the others hold copies of these.
struct Shard {
  Box box;
  std::vector<interp::Rank> holders;
  std::vector<interp::Rank> addends;
};
std::vector<Shard> shards_of(const LayoutSource& source);
/// The largest number of addends of a part; 1 where nothing is partial.
size_t most_addends(const std::vector<Shard>& shards);

/// The two dimensions that are seen and a position in all others.
struct Plane {
  int row_dim = 0;
  int column_dim = 0;
  std::vector<int> at;  // by dimension

  friend bool operator==(const Plane&, const Plane&) = default;
  size_t rank() const { return at.size(); }
  bool is_matrix() const { return at.size() >= 2; }
  int64_t rows(const Extents& global) const;
  int64_t columns(const Extents& global) const;

  struct Part {
    int64_t row_lo = 0, row_hi = 1, column_lo = 0, column_hi = 1;
  };
  /// What of a box lies in the plane; nothing where the box is empty or elsewhere.
  std::optional<Part> part(const Box& box) const;
  /// The element of the plane at a row and column.
  std::vector<int64_t> element(int64_t row, int64_t column) const;
};
/// The dimensions that are cut come first, then the last ones.
Plane best_plane(const Extents& global, const std::vector<Shard>& shards);

/// One stretch of a dimension that a mesh coordinate owns: `tp=1`, 11 elements.
struct Band {
  int64_t lo = 0;
  int64_t hi = 0;
  std::string coordinate;  // `tp=1`; empty where no axis cuts the dimension
};
/// Bands of a dimension, outermost axis first; one level per axis that cuts it. A dimension that is
/// not cut has one level with one band. Empty bands are left out.
std::vector<std::vector<Band>> bands_of(const LayoutSource& source, size_t dim);
/// Sizes of the finest bands with the empty ones: `11, 11, 10`; empty where nothing cuts it.
std::vector<int64_t> cut_sizes(const LayoutSource& source, size_t dim);

/// Pixels per element. To scale while both sides are at least `least` pixels; a long thin tensor is
/// stretched, and `stretched` says so.
struct Fit {
  float cell_x = 1;
  float cell_y = 1;
  bool stretched = false;
};
Fit fit(float rows, float columns, float width, float height, float most, float least);

/// `[0:6, 4:8]`
std::string to_string(const Box& box);
std::string index_to_string(const std::vector<int64_t>& index);
bool holds(const Box& box, const std::vector<int64_t>& element);

}  // namespace hostir::gui
