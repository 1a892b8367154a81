// Stepping, breakpoints, focus and freezing through keys and clicks.
#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Step, KeysGoForwardsAndBack) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.model().snapshot());
  EXPECT_EQ(w.decision(), 0u);
  ASSERT_TRUE(w.press("F10"));
  const uint64_t after_one = w.decision();
  EXPECT_GT(after_one, 0u);
  ASSERT_TRUE(w.press("F10"));
  EXPECT_GT(w.decision(), after_one);
  ASSERT_TRUE(w.press("Shift+F10"));
  EXPECT_EQ(w.decision(), after_one);
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
  ASSERT_TRUE(w.press("Shift+F5"));
  EXPECT_EQ(w.decision(), 0u);
}

TEST(Step, NextCollectiveAndBackAgain) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F6"));
  EXPECT_EQ(w.shot().rank(w.shot().focus).op, "all_reduce") << w.text("status");
  const uint64_t there = w.decision();
  ASSERT_TRUE(w.press("F5"));
  ASSERT_TRUE(w.press("Shift+F6"));
  EXPECT_EQ(w.shot().rank(1).op, "all_reduce") << "the last rank to enter it is the first to leave";
  EXPECT_LE(w.decision(), there + static_cast<uint64_t>(w.shot().rank_count()));
}

TEST(Step, ToolbarStepsAsKeysDo) {
  Workbench keys(kMlp);
  Workbench buttons(kMlp);
  keys.press("F10");
  keys.press("F6");
  keys.press("Shift+F10");
  buttons.click("toolbar/next");
  buttons.click("toolbar/until collective");
  buttons.click("toolbar/reverse-next");
  EXPECT_EQ(keys.decision(), buttons.decision());
  EXPECT_GT(buttons.decision(), 0u);
}

TEST(Breakpoints, AClickInTheGutterStopsTheRunThere) {
  Workbench w(kMlp);
  const int line = line_of(w, "= all_reduce sum");
  ASSERT_GT(line, 0);
  ASSERT_TRUE(w.press("F6"));  // scrolls there
  ASSERT_TRUE(w.click(fmt::format("host_ir/gutter/{}", line)));
  ASSERT_EQ(w.shot().breakpoints->size(), 1u);
  ASSERT_TRUE(w.perform("goto start"));
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kBreakpoint);
  EXPECT_EQ(w.shot().rank(w.shot().stop.rank).op, "all_reduce");
  ASSERT_TRUE(w.click(fmt::format("host_ir/gutter/{}", line)));
  EXPECT_TRUE(w.shot().breakpoints->empty());
}

TEST(Breakpoints, AConditionIsTypedAndHolds) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("panel.breaks"));
  ASSERT_TRUE(w.fill("breaks/new", "break all_reduce if rank == 1"));
  ASSERT_EQ(w.shot().breakpoints->size(), 1u) << w.text("messages/last");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kBreakpoint);
  EXPECT_EQ(w.shot().stop.rank, 1);
  ASSERT_TRUE(w.click("breaks/1/on"));
  EXPECT_FALSE(w.shot().breakpoints->front().enabled);
}

TEST(Breakpoints, AConditionThatIsNoneIsExplained) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("panel.breaks"));
  ASSERT_TRUE(w.fill("breaks/new", "break all_reduce if rank =="));
  EXPECT_TRUE(w.shot().breakpoints->empty());
  EXPECT_EQ(w.text("breaks/new"), "break all_reduce if rank ==");
}

TEST(Ranks, FocusByChipAndByKey) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.click("focus/1"));
  EXPECT_EQ(w.shot().focus, 1);
  ASSERT_TRUE(w.press("Alt+1"));
  EXPECT_EQ(w.shot().focus, 0);
  ASSERT_TRUE(w.press("Alt+Down"));
  EXPECT_EQ(w.shot().focus, 1);
}

TEST(Ranks, AFrozenRankDoesNotMove) {
  Workbench w(kMlp);
  w.only("ranks");
  ASSERT_TRUE(w.click("ranks/1/freeze"));
  EXPECT_TRUE(w.shot().rank(1).frozen);
  EXPECT_EQ(w.text("ranks/1/state"), "frozen");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().rank(1).steps, 0u);
  EXPECT_NE(w.shot().stop.kind, interp::StopKind::kFinished);
  ASSERT_TRUE(w.click("ranks/1/freeze"));
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
}

TEST(Ranks, TheRankThatNeverCameIsNamed) {
  Workbench w("tests/programs/deadlock.hir");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock);
  EXPECT_NE(w.text("banner").find("rank 1"), std::string::npos) << w.text("banner");
  EXPECT_NE(w.text("waits/sentence").find("rank 1"), std::string::npos);
}

// A window with nothing to do sleeps, so its last frame must be complete. Panels may ask again
// because of an answer, and the result must still be drawn before the window sleeps.
TEST(Sleep, NothingIsMissingFromTheLastFrame) {
  Workbench w(kMlp);
  for (const char* key : {"F10", "F10", "F6", "F10", "F10", "F5", "Shift+F10"}) {
    w.press(key);
    const int asleep = w->vertex_count();
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      w->step();
    }
    EXPECT_EQ(w->vertex_count(), asleep) << key;
  }
}

// F5 in an open dialog must not run the program behind it.
TEST(Step, NothingMovesBehindTheOpenDialog) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("file.open"));
  ASSERT_TRUE(w.has("open/path"));
  w.press("F10");
  w.press("F5");
  EXPECT_EQ(w.decision(), 0u);
  w.press("Esc");
  EXPECT_FALSE(w.has("open/path"));
  w.press("F10");
  EXPECT_GT(w.decision(), 0u);
}

}  // namespace
}  // namespace hostir::gui
