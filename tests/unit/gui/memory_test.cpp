// The Memory panel: blocks from alloc to free, the holders of the peak, leaks.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gui/panels/memory/memory_blocks.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

/// The pipeline program without the free of its buffers, in a file of its own.
std::string leaking_program() {
  std::stringstream text;
  text << std::ifstream("tests/programs/pipeline_by_hand.hir").rdbuf();
  std::string program = text.str().substr(0, text.str().find("\ntest "));
  const std::string line = "  free %buffers on %s\n";
  program.erase(program.find(line), line.size());
  const auto path = std::filesystem::path(testing::TempDir()) / "leaking_pipeline.hir";
  std::ofstream(path) << program;
  return path.string();
}

TEST(Memory, EveryBufferIsABlockFromItsAllocToItsFree) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("memory");
  EXPECT_TRUE(w.has("memory/axis"));
  EXPECT_EQ(w.text("memory/blocks"), "8 blocks");
  EXPECT_TRUE(w.text("memory/block/x").starts_with("parameter")) << w.text("memory/block/x");
  EXPECT_EQ(w.text("memory/block/g"), "intermediate 120 B");
  EXPECT_EQ(w.text("memory/block/y"), "result 192 B");
  const WidgetRect* g = w->app().ui().find("memory/block/g");
  const WidgetRect* y = w->app().ui().find("memory/block/y");
  ASSERT_TRUE(g && y);
  EXPECT_LE(g->max.x, y->min.x);  // freed before the other is allocated
  ASSERT_TRUE(w->hover("memory/block/g"));
  w->step();
  EXPECT_NE(w.text("memory/tooltip").find("freed at"), std::string::npos)
      << w.text("memory/tooltip");
  ASSERT_TRUE(w.click("memory/block/g"));
  EXPECT_EQ(w.model().selection.value, "g");
  EXPECT_GE(w.model().selection.event, 0);
  EXPECT_TRUE(w.model().selection.code.has_value());
}

TEST(Memory, BlocksNeverOverlapAndAddUpToThePeak) {
  Workbench w("tests/programs/sp_mlp.hir");
  w.press("F5");
  bool asked = false;
  BlocksKey key;
  for (const interp::AllocationSnapshot& a : w.shot().memory[0]->allocations) {
    if (a.parameter) key.parameters.emplace_back(a.name, a.bytes);
  }
  const int64_t peak = w.shot().memory[0]->peak_bytes;
  w.model().worker().query_log("test", [&](const interp::LogView& log, std::stop_token stop) {
    const auto data = fetch_blocks(log, key, stop);
    EXPECT_TRUE(data);
    if (!data) return std::function<void()>();
    EXPECT_EQ(data->peak_bytes, peak);
    EXPECT_TRUE(data->returned);
    int64_t at_peak = 0;
    for (const HeldBlock& a : data->blocks) {
      at_peak += a.holds_at(data->peak_ns) ? a.bytes : 0;
      for (const HeldBlock& b : data->blocks) {
        const bool together = &a != &b && a.bytes > 0 && b.bytes > 0 && a.holds_at(b.from_ns);
        if (!together) continue;
        EXPECT_TRUE(a.address + a.bytes <= b.address || b.address + b.bytes <= a.address)
            << a.name << " " << b.name;
      }
    }
    EXPECT_EQ(at_peak, peak);
    return std::function<void()>([&] { asked = true; });
  });
  w->wait_until_idle(30);
  EXPECT_TRUE(asked);
}

TEST(Memory, AnAllocOverABufferGoesOnInItsPlace) {
  Workbench w("tests/programs/sp_mlp.hir");
  w.press("F5");
  w.only("memory");
  const WidgetRect* old = w->app().ui().find("memory/block/x_gathered");
  const WidgetRect* next = w->app().ui().find("memory/block/y_product_packed");
  ASSERT_TRUE(old && next);
  EXPECT_EQ(old->min.y, next->min.y);
  EXPECT_EQ(old->max.y, next->max.y);
  EXPECT_EQ(old->max.x, next->min.x);
  ASSERT_TRUE(w->hover("memory/block/x_gathered"));
  w->step();
  EXPECT_NE(w.text("memory/tooltip").find("goes on as %y_product_packed"), std::string::npos)
      << w.text("memory/tooltip");
}

TEST(Memory, WhatALongLoopAllocatesIsOneBlockWithACount) {
  const auto path = std::filesystem::path(testing::TempDir()) / "long_loop.hir";
  std::ofstream(path) << "mesh @m = <x=1>\nkernel @k() -> (%v: tensor<64xf32>) {\n"
                         "  %v = constant {value = 1.0} : tensor<64xf32>\n  return %v\n}\n"
                         "host @f on @m () {\n  %s = stream \"main\"\n"
                         "  for %i in 0..2000 {\n    %b = alloc on %s : tensor<64xf32>\n"
                         "    launch @k wo(%b) on %s\n    free %b on %s\n  }\n  return\n}\n";
  Workbench w(path.string(), 1600, 1000, "", "f");
  w.press("F5");
  w.only("memory");
  EXPECT_EQ(w.text("memory/blocks"), "1 block");
  w->hover("memory/block/b");
  w->step();
  EXPECT_NE(w.text("memory/tooltip").find("2000 one after the other"), std::string::npos)
      << w.text("memory/tooltip");
  EXPECT_LE(w->vertex_count(), 60000);
}

TEST(Memory, WhoHeldThePeakIsListed) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("memory");
  ASSERT_TRUE(w.click("memory/list/peak"));
  EXPECT_TRUE(w.text("memory/held").starts_with("r0: 948 B held by 7 buffers"))
      << w.text("memory/held");
  ASSERT_TRUE(w.click("memory/held/1"));
  EXPECT_EQ(w.model().selection.value, w.text("memory/held/1"));
}

TEST(Memory, EqualCurvesSaySo) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("memory");
  EXPECT_EQ(w.text("memory/peak/0"), "r0 948 B");
  EXPECT_EQ(w.text("memory/peak/1"), "r1 948 B = r0");
}

TEST(Memory, WhatIsNeverFreedIsALeakAndIsListed) {
  Workbench w(leaking_program(), 1600, 1000, "", "pipeline");
  w.perform("step");
  w.only("memory");
  w.perform("continue");
  ASSERT_TRUE(w.click("memory/list/leaks"));
  EXPECT_EQ(w.text("memory/list/leaks"), "! leaks 1");
  EXPECT_TRUE(w.text("memory/block/buffers").starts_with("leak"));
  EXPECT_TRUE(w.text("memory/block/y").starts_with("result")) << w.text("memory/block/y");
  EXPECT_EQ(w.text("memory/held/0"), "buffers");
}

TEST(Memory, WithoutLeaksThatIsSaid) {
  Workbench w(kMlp);
  w.perform("until collective");
  w.only("memory");
  ASSERT_TRUE(w.click("memory/list/leaks"));
  EXPECT_NE(w.text("memory/held").find("when the run has ended"), std::string::npos);
  w.perform("continue");
  EXPECT_NE(w.text("memory/held").find("nothing leaks"), std::string::npos);
}

// The return of a called function does not end the rank.
TEST(Memory, ALeakBehindACallIsALeak) {
  const std::string path = testing::TempDir() + "call_leaks.hir";
  std::ofstream(path) << "mesh @m = <x=1>\n"
                         "host @inner on @m () -> () {\n  %s = stream \"main\"\n  return\n}\n"
                         "host @outer on @m () -> () {\n  %s = stream \"main\"\n"
                         "  %z = alloc on %s : shard<4xf32, @m, [{}]>\n"
                         "  call @inner()\n  %t = stream \"other\"\n  return\n}\n";
  Workbench w(path, 1600, 1000, "", "outer");
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.perform("next 3"));
  w.only("memory");
  ASSERT_TRUE(w.click("memory/list/leaks"));
  EXPECT_NE(w.text("memory/held").find("when the run has ended"), std::string::npos)
      << w.text("memory/held");
  EXPECT_TRUE(w.text("memory/block/z").starts_with("intermediate")) << w.text("memory/block/z");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.text("memory/list/leaks"), "! leaks 1");
  EXPECT_TRUE(w.text("memory/block/z").starts_with("leak")) << w.text("memory/block/z");
}

}  // namespace
}  // namespace hostir::gui
