// Shards and global tensors: cutting into boxes and assembling restores the tensor, for any mesh.
#include "interp/session/values/assemble.h"

#include <gtest/gtest.h>

#include "interp/session/checks/compare.h"

namespace hostir::interp {
namespace {

struct Cut {
  std::vector<Tensor> parts;
  std::vector<ShardData> shards;
};

Cut cut_up(const Mesh& mesh, const Sharding& sharding, const Tensor& whole) {
  Cut out;
  const Box all = Box::whole(whole.extents);
  out.parts.resize(static_cast<size_t>(mesh.size()));
  for (int64_t p = 0; p < mesh.size(); ++p) {
    const Box box = shard_box(mesh, sharding, whole.extents, p);
    Tensor& part = out.parts[static_cast<size_t>(p)];
    part = Tensor::zeros(whole.dtype, box.extents());
    if (is_partial_root(mesh, sharding, p)) copy_region(whole, all, part, box, box);
  }
  for (int64_t p = 0; p < mesh.size(); ++p) {
    out.shards.push_back({static_cast<Rank>(mesh.rank_at(p)),
                          shard_box(mesh, sharding, whole.extents, p),
                          &out.parts[static_cast<size_t>(p)]});
  }
  return out;
}

TensorType type_of(const Tensor& t, const Sharding& s) {
  TensorType out;
  out.dtype = t.dtype;
  for (const int64_t n : t.extents) out.shape.emplace_back(n);
  out.sharding = s;
  return out;
}

TEST(Assemble, GivesTheTensorBackForEveryShardingAndSize) {
  Program program;
  Mesh mesh;
  mesh.name = "m";
  mesh.axes = {{"a", 2}, {"b", 3}};
  program.add_mesh(mesh);
  const std::vector<std::vector<AxisRef>> choices = {
      {}, {AxisRef{"a", 1, 0}}, {AxisRef{"b", 1, 0}}, {AxisRef{"a", 1, 0}, AxisRef{"b", 1, 0}}};
  for (int64_t rows = 0; rows < 8; ++rows) {
    Tensor whole = Tensor::zeros(DType::kF32, {rows, 5});
    for (int64_t i = 0; i < whole.element_count(); ++i)
      whole.set_double(i, static_cast<double>(i) + 0.25);
    for (const auto& axes : choices) {
      Sharding s = Sharding::replicated("m", 2);
      s.dims[0].axes = axes;
      if (axes.empty()) s.unreduced = {AxisRef{"b", 1, 0}};
      const Cut cut = cut_up(mesh, s, whole);
      const Assembled out = assemble(program, type_of(whole, s), cut.shards);
      EXPECT_EQ(out.tensor, whole) << s.to_string() << " rows " << rows;
      EXPECT_FALSE(out.disagreement);
      EXPECT_TRUE(out.missing.empty());
    }
  }
}

TEST(Assemble, ReportsReplicasThatDiffer) {
  Program program;
  Mesh mesh;
  mesh.name = "m";
  mesh.axes = {{"a", 2}};
  program.add_mesh(mesh);
  const Tensor whole = Tensor::zeros(DType::kF32, {3});
  const Sharding s = Sharding::replicated("m", 1);
  Cut cut = cut_up(mesh, s, whole);
  cut.parts[1].set_double(2, 7);
  const Assembled out = assemble(program, type_of(whole, s), cut.shards);
  ASSERT_TRUE(out.disagreement);
  EXPECT_EQ(out.disagreement->second, 1);
  EXPECT_EQ(out.disagreement->index, std::vector<int64_t>{2});
}

TEST(Compare, TolerancesMeanWhatTheySay) {
  Tensor a = Tensor::zeros(DType::kF32, {2});
  Tensor b = a;
  a.set_double(1, 1.0);
  b.set_double(1, 1.0 + 0x1p-23);
  Tolerance t;
  EXPECT_FALSE(compare(a, b, t));  // the default allows it
  t.kind = Tolerance::Kind::kExact;
  EXPECT_TRUE(compare(a, b, t));
  t.kind = Tolerance::Kind::kUlp;
  t.ulp = 1;
  EXPECT_FALSE(compare(a, b, t));
  t.ulp = 0;
  EXPECT_TRUE(compare(a, b, t));
  a.set_double(0, std::numeric_limits<double>::quiet_NaN());
  const auto difference = compare(a, b, Tolerance{});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->first, 0);
  EXPECT_EQ(ulp_distance(DType::kBF16, -0x1p-133, 0x1p-133), 2u);
}

}  // namespace
}  // namespace hostir::interp
