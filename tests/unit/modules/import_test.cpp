// Invalid texts, with location and message, and the notations of groups and shardings. Whole
// programs are in tests/truth/jax and tests/truth/jax_made.

#include "hostir/import/import.h"

#include <gtest/gtest.h>

#include "hostir/import/layout/layout_axes.h"
#include "hostir/import/rewrite/tile_sharding.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::importer {
namespace {

struct Wrong {
  std::string text;
  uint32_t line;
  std::string message;
};

std::string in_main(const std::string& body) {
  return "module @m {\n  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n" + body +
         "\n    return %arg0 : tensor<4xf32>\n  }\n}\n";
}

TEST(Import, WrongTextIsNamedAtItsPlace) {
  const Wrong cases[] = {
      {"module @m {", 1, "expected"},
      {"module @m { }", 1, "no func.func"},
      {in_main("    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>"), 3, "%arg1 is not defined"},
      {in_main("    %0 = stablehlo.add %arg0 %arg0 tensor<4xf32>"), 3, "expected"},
      {in_main("    %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>"), 3,
       "has 4 elements, not 2"},
      {in_main("    %0 = stablehlo.constant dense<one> : tensor<4xf32>"), 3, "not a value of f32"},
      {in_main("    %0 = stablehlo.constant dense<\"0x00\"> : tensor<4xf32>"), 3, "needs 16 bytes"},
      {in_main("    %0:2 = stablehlo.abs %arg0 : tensor<4xf32>\n    %1 = stablehlo.abs %0#5 : "
               "tensor<4xf32>"),
       4, "there is no number 5"},
      {in_main("    %0 = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<5xf32>"), 3,
       "a different number of elements"},
      {in_main("    %0 = stablehlo.slice %arg0 [0:9] : (tensor<4xf32>) -> tensor<9xf32>"), 3,
       "outside dimension 0"},
      {in_main("    %0 = call @nobody(%arg0) : (tensor<4xf32>) -> tensor<4xf32>"), 3,
       "no function @nobody"},
      {in_main("    %0 = call @main(%arg0) : (tensor<4xf32>) -> tensor<4xf32>"), 3,
       "deeper than 64"},
      {in_main("    %0 = stablehlo.transpose %arg0, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>"),
       3, "not a permutation"},
      {in_main("    %0 = stablehlo.abs %arg0 : tensor<99999999999999999999xf32>"), 3, "2^48"},
      {in_main("    %0 = \"stablehlo.compare\"() : () -> tensor<4xi1>"), 3,
       "takes at least 2 operands"},
      {in_main("    %0 = \"stablehlo.if\"(%arg0) ({\n    ^bb0(%a: tensor<f32>):\n      "
               "stablehlo.return %a : "
               "tensor<f32>\n    }) : (tensor<4xf32>) -> tensor<f32>"),
       5, "without a value"},
      {"HloModule m\nENTRY main {\n  p = f32[4]{0} parameter(0), metadata={op=\"\\", 3,
       "not closed"},
      {"HloModule m, num_partitions=2\nENTRY main {\n  p = f32[4]{0} parameter(0), "
       "sharding={devices=[2]0,0}\n  ROOT c = "
       "f32[4]{0} negate(p)\n}\n",
       0, "no mesh has"},
      {"HloModule m\nENTRY main {\n  p = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} add(p, "
       "q)\n}\n",
       4, "%q is not defined"},
      {"HloModule m\nENTRY main {\n  p = f32[4{0} parameter(0)\n}\n", 3, "expected"},
      {"HloModule m\nENTRY main {\n  p = f32[4]{0} parameter(0)\n", 4, "closes computation"},
      {"HloModule m\n", 1, "no ENTRY"},
      {"HloModule m, num_partitions=2\nENTRY main {\n  p = f32[4]{0} parameter(0), "
       "sharding={what}\n  ROOT c = f32[4]{0} "
       "negate(p)\n}\n",
       3, "form that cannot be read"},
  };
  for (const Wrong& c : cases) {
    SourceManager sources;
    const auto imported = import_text(sources, sources.add("x", c.text));
    ASSERT_FALSE(imported) << c.text;
    const Diagnostic& first = imported.error().diagnostics.front();
    EXPECT_NE(first.message.find(c.message), std::string::npos) << first.message << "\n" << c.text;
    if (c.line == 0) continue;  // an error of the whole module
    EXPECT_EQ(sources.locate(0, first.span.begin).line, c.line) << first.message << "\n" << c.text;
  }
}

TEST(Import, DeepNestingIsRefused) {
  for (const std::string open : {"[", "{a = ", "#a<", "("}) {
    std::string text = "#x = ";
    for (int i = 0; i < 100000; ++i) text += open;
    SourceManager sources;
    EXPECT_FALSE(import_text(sources, sources.add("x", std::move(text))));
  }
}

TEST(Import, ReplicaGroupsInEveryForm) {
  using Groups = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(parse_replica_groups("{{0,1},{2,3}}", 4), (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(parse_replica_groups("{}", 3), (Groups{{0, 1, 2}}));
  EXPECT_EQ(parse_replica_groups("[2,4]<=[8]", 8), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(parse_replica_groups("[2,4]<=[4,2]T(1,0)", 8), (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_EQ(parse_replica_groups("mesh['x'=2,'y'=2] {'x'}", 4), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(parse_replica_groups("mesh[x=2,y=2] {y}", 4), (Groups{{0, 1}, {2, 3}}));
  EXPECT_FALSE(parse_replica_groups("[3,4]<=[8]", 8));
}

TEST(Import, TileShardingsFindTheirMesh) {
  const auto rows = parse_tile_sharding("{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  const auto columns =
      parse_tile_sharding("{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  const auto both = parse_tile_sharding("{devices=[4,1]0,1,2,3}");
  ASSERT_TRUE(rows && columns && both);
  const auto mesh = mesh_for({*rows, *columns, *both}, 4);
  ASSERT_TRUE(mesh);
  ASSERT_EQ(mesh->axes.size(), 2u);
  EXPECT_EQ(sharding_on(*mesh, *rows, 2)->dims_to_string(), "[{a0}, {}]");
  EXPECT_EQ(sharding_on(*mesh, *columns, 2)->dims_to_string(), "[{}, {a1}]");
  EXPECT_EQ(sharding_on(*mesh, *both, 2)->dims_to_string(), "[{a0, a1}, {}]");
  EXPECT_EQ(sharding_on(*mesh, *parse_tile_sharding("{replicated}"), 1)->dims_to_string(), "[{}]");
}

// An asynchronous pair becomes issue and wait with work between them, on a mesh inferred from tile
// assignments.
TEST(Import, StartAndDoneAreIssueAndWait) {
  const std::string text = R"(HloModule m, is_scheduled=true, num_partitions=2

ENTRY %main (p: f32[4]) -> f32[8] {
  %p = f32[4]{0} parameter(0), sharding={devices=[2]<=[2]}
  %start = (f32[4]{0}, f32[8]{0}) all-gather-start(%p), channel_id=1, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true
  %twice = f32[4]{0} add(%p, %p)
  %done = f32[8]{0} all-gather-done(%start)
  %both = f32[8]{0} concatenate(%twice, %twice), dimensions={0}
  ROOT %sum = f32[8]{0} add(%done, %both)
}
)";
  SourceManager sources;
  const auto imported = import_text(sources, sources.add("x", text));
  ASSERT_TRUE(imported) << render(imported.error().diagnostics, sources);
  const std::string printed = text::print(imported->program);
  const size_t issue = printed.find("all_gather %c0");
  const size_t work = printed.find("launch @m.twice");
  const size_t wait = printed.find("wait %sent on %compute");
  ASSERT_NE(issue, std::string::npos) << printed;
  EXPECT_LT(issue, work);
  EXPECT_LT(work, wait) << printed;
  const auto again = text::parse_program(printed);
  ASSERT_TRUE(again) << printed;
  EXPECT_EQ(text::print(*again), printed);
}

// A value that three converts need in f32 is computed in f32 once.
TEST(Import, WideArithmeticIsEmittedOnce) {
  std::string text =
      "module @m {\n func.func public @main(%x: tensor<4xbf16>) -> tensor<4xf32> {\n";
  text += "  %e = stablehlo.exponential %x : tensor<4xbf16>\n";
  for (const char* name : {"%a", "%b", "%c"})
    text +=
        std::string("  ") + name + " = stablehlo.convert %e : (tensor<4xbf16>) -> tensor<4xf32>\n";
  text +=
      "  %s = stablehlo.add %a, %b : tensor<4xf32>\n  %t = stablehlo.add %s, %c : tensor<4xf32>\n";
  text += "  return %t : tensor<4xf32>\n }\n}\n";
  SourceManager sources;
  const auto imported = import_text(sources, sources.add("x", text));
  ASSERT_TRUE(imported) << render(imported.error().diagnostics, sources);
  const std::string printed = text::print(imported->program);
  size_t count = 0;
  for (size_t at = printed.find(" exp "); at != std::string::npos;
       at = printed.find(" exp ", at + 1))
    ++count;
  EXPECT_EQ(count, 1u) << printed;
}

// The axes of 1024 devices in another order; then a ring, which no order of axes describes.
TEST(Import, PermutationsOfManyAxes) {
  Mesh mesh;
  AxisNames axes;
  for (int i = 0; i < 10; ++i) {
    axes.push_back("a" + std::to_string(i));
    mesh.axes.push_back({axes.back(), 2});
  }
  AxisNames turned(axes.rbegin(), axes.rend());
  std::vector<int64_t> pairs;
  std::vector<int64_t> ring;
  for (int64_t device = 0; device < mesh.size(); ++device) {
    pairs.insert(pairs.end(), {part_number(mesh, turned, device), device});
    ring.insert(ring.end(), {device, (device + 1) % mesh.size()});
  }
  EXPECT_EQ(axes_after(mesh, axes, pairs), turned);
  EXPECT_FALSE(axes_after(mesh, axes, ring));
  const AxisNames some = {"a7", "a2", "a5"};
  std::vector<int64_t> parts;
  for (int64_t position = 0; position < mesh.size(); ++position)
    parts.push_back(part_number(mesh, some, position));
  EXPECT_EQ(axes_that_number(mesh, parts), some);
  parts.back() = 0;
  EXPECT_FALSE(axes_that_number(mesh, parts));
}

// Loops that only count emit nothing, but nested they would run for years.
TEST(Import, NestedCountingIsBounded) {
  std::string text =
      "module @m {\n func.func public @main() -> tensor<i32> {\n"
      "  %c = stablehlo.constant dense<0> : tensor<i32>\n";
  const std::string head =
      " = stablehlo.while(%i = %c) : tensor<i32>\n cond {\n"
      "  %n = stablehlo.constant dense<90000> : tensor<i32>\n"
      "  %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "  stablehlo.return %p : tensor<i1>\n } do {\n";
  const std::string tail =
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %j = stablehlo.add %i, %one : tensor<i32>\n"
      "  stablehlo.return %j : tensor<i32>\n }\n";
  text += "%0" + head + "%1" + head + tail + tail + "return %0 : tensor<i32>\n }\n}\n";
  SourceManager sources;
  const auto imported = import_text(sources, sources.add("x", text));
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.error().message().find("its loops run too often"), std::string::npos)
      << imported.error().message();
}

}  // namespace
}  // namespace hostir::importer
