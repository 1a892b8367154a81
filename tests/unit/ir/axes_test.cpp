// Lists of whole axes take a shorter way than lists with sub-axes: both give the same.
#include "hostir/ir/axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hostir/support/lists.h"

namespace hostir {
namespace {

Mesh mesh() {
  Mesh out;
  out.name = "m";
  out.axes = {{"a", 4}, {"b", 6}, {"c", 1}, {"d", 2}};
  return out;
}

AxisList random_axes(std::mt19937& random) {
  AxisList out;
  for (const MeshAxis& axis : mesh().axes) out.push_back({axis.name, 1, 0});
  std::shuffle(out.begin(), out.end(), random);
  out.resize(random() % (out.size() + 1));
  return out;
}

// Every axis as the sub-axis that spans all of it.
AxisList spelled_out(AxisList list) {
  for (AxisRef& axis : list) axis.size = mesh().axis_size(axis);
  return list;
}

TEST(Axes, WholeAxesAreTreatedAsTheirLargestSubAxes) {
  std::mt19937 random(1);
  const Mesh m = mesh();
  for (int round = 0; round < 2000; ++round) {
    const AxisList a = random_axes(random);
    AxisList b = random_axes(random);
    if (random() % 3 == 0) b.insert(b.begin(), a.begin(), a.end());
    std::vector<std::string> seen;
    std::erase_if(b, [&](const AxisRef& axis) {
      const bool twice = contains(seen, axis.name);
      seen.push_back(axis.name);
      return twice;
    });
    const AxisList x = spelled_out(a);
    const AxisList y = spelled_out(b);
    const std::string lists = axes_to_string(a) + " " + axes_to_string(b);
    EXPECT_EQ(common_prefix(m, a, b), common_prefix(m, x, y)) << lists;
    EXPECT_EQ(is_prefix(m, a, b), is_prefix(m, x, y)) << lists;
    EXPECT_EQ(prefix_avoiding(m, a, b), prefix_avoiding(m, x, y)) << lists;
    EXPECT_EQ(without(m, a, b), without(m, x, y)) << lists;
    EXPECT_EQ(same_set(m, a, b), same_set(m, x, y)) << lists;
    if (is_prefix(m, a, b)) {
      EXPECT_EQ(suffix_after(m, b, a), suffix_after(m, y, x)) << lists;
    }
    const AxisList rest = without(m, b, a);
    EXPECT_EQ(joined(m, a, rest), joined(m, x, spelled_out(rest))) << lists;
    Sharding s = Sharding::replicated("m", 2);
    s.dims[0].axes = a;
    s.dims[1].axes = rest;
    Sharding t = s;
    t.dims[0].axes = x;
    t.dims[1].axes = spelled_out(rest);
    EXPECT_EQ(canonical(m, s), canonical(m, t)) << lists;
    EXPECT_EQ(effective(m, s), effective(m, t)) << lists;
    EXPECT_EQ(dimension_axes(m, s), dimension_axes(m, t)) << lists;
  }
}

}  // namespace
}  // namespace hostir
