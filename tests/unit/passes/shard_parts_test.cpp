// ShardParts against boxes made one by one, on random shardings.
#include "hostir/passes/redistribute/shard_parts.h"

#include <gtest/gtest.h>

#include <random>

#include "hostir/ir/axes.h"

namespace hostir {
namespace {

class RandomCase {
 public:
  explicit RandomCase(uint32_t seed) : random_(seed) {
    mesh.name = "m";
    for (const char* name : {"a", "b", "c"}) mesh.axes.push_back({name, pick({1, 2, 3, 4, 6})});
    for (int d = 0; d < 3; ++d) extents.push_back(pick({0, 1, 2, 5, 7, 12}));
  }

  // Every axis, whole or in parts, cuts some dimension or none, into equal parts or into blocks.
  Sharding sharding() {
    Sharding s = Sharding::replicated("m", extents.size());
    for (const MeshAxis& axis : mesh.axes) {
      std::vector<AxisRef> parts = {{axis.name}};
      if (axis.size % 2 == 0 && axis.size > 2 && pick({0, 1}) == 1)
        parts = {{axis.name, 1, 2}, {axis.name, 2, axis.size / 2}};
      for (AxisRef& part : parts) {
        const auto dim = static_cast<size_t>(pick({0, 1, 2, 3}));
        if (dim < s.dims.size()) s.dims[dim].axes.push_back(std::move(part));
      }
    }
    for (DimSharding& dim : s.dims) {
      if (dim.axes.empty()) continue;
      if (pick({0, 1, 2}) == 0) dim.unit = pick({2, 3, 4});
      if (dim.unit != 1 || pick({0, 1, 2}) != 0) continue;
      dim.block = pick({-5, -2, -1, 1, 2, 3, 8});
      dim.origin = pick({-7, -3, -1, 0, 1, 4, 12});
    }
    return s;
  }

  Mesh mesh;
  Extents extents;

 private:
  int64_t pick(std::vector<int64_t> from) {
    return from[std::uniform_int_distribution<size_t>(0, from.size() - 1)(random_)];
  }
  std::mt19937 random_;
};

TEST(ShardParts, ComparesLikeBoxes) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomCase c(seed);
    const Sharding first = c.sharding();
    const Sharding second = c.sharding();
    const std::vector<Box> a = shard_boxes(c.mesh, first, c.extents);
    const std::vector<Box> b = shard_boxes(c.mesh, second, c.extents);
    const ShardParts x(c.mesh, first, c.extents);
    const ShardParts y(c.mesh, second, c.extents);
    for (size_t p = 0; p < a.size(); ++p) {
      for (size_t d = 0; d < c.extents.size(); ++d)
        ASSERT_EQ(x.range(d, p), (Range{a[p].lo[d], a[p].hi[d]})) << first.to_string();
      ASSERT_EQ(x.volume(p), a[p].volume());
      for (size_t q = 0; q < b.size(); ++q) {
        ASSERT_EQ(x.equal(p, y, q), a[p] == b[q]);
        ASSERT_EQ(x.contains(p, y, q), a[p].contains(b[q]));
        ASSERT_EQ(x.shared_volume(p, y, q), a[p].intersect(b[q]).volume());
      }
    }
  }
}

}  // namespace
}  // namespace hostir
