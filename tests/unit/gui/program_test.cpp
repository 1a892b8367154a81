// Which function of the file runs and on how many ranks, which rank has the focus, and what stays
// in place.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

constexpr const char* kDeadlock = "tests/programs/deadlock.hir";

TEST(Program, AnotherFunctionOfTheFileRuns) {
  Workbench w(kDeadlock);
  EXPECT_EQ(w.text("program"), "@forgotten x=2");
  ASSERT_TRUE(w.click("program"));
  ASSERT_TRUE(w.click("program/function/crossed"));
  ASSERT_TRUE(w.click("program/start"));
  EXPECT_EQ(w.text("program"), "@crossed x=2");
  EXPECT_EQ(w.shot().rank(0).function, "crossed");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock);
}

TEST(Program, TheMeshIsResizedAndBreakpointsStay) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("break all_reduce"));
  ASSERT_TRUE(w.click("program"));
  ASSERT_TRUE(w.fill("program/axis/tp", "5"));
  EXPECT_EQ(w.text("program/axis/tp"), "5");
  ASSERT_TRUE(w.click("program/start"));
  EXPECT_EQ(w.shot().rank_count(), 5) << w.model().open_error();
  EXPECT_EQ(w.text("program"), "@mlp tp=5");
  EXPECT_EQ(w.shot().breakpoints->size(), 1u);
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kBreakpoint);
}

TEST(Program, ALogOffersNothingElseToRun) {
  const std::string path = testing::TempDir() + "program_test.db";
  std::filesystem::remove(path);
  {
    api::SessionOptions options;
    options.log_path = path;
    api::SessionOpener factory{options};
    auto session = factory.open({.path = kDeadlock});
    ASSERT_TRUE(session);
    ASSERT_TRUE((*session)->execute(*interp::parse_command("continue"), {}));
  }
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_FALSE(w.has("program"));
  std::filesystem::remove(path);
}

// A buffer is explained by what was decided about the value of the fusion that it holds, whatever
// its name, in the run and in its log.
TEST(Explain, ABufferIsExplainedByTheValueThatItHolds) {
  const std::string program = write_file("explain_test.hir", R"(mesh @m = <tp=2>
fusion @f(%x: tensor<4x8xf32> <@m, [{tp}, {}]>, %w: tensor<8x8xf32> <@m, [{}, {}]>)
    -> (%y: tensor<4x8xf32> <@m, [{}, {}]>) {
  %h = matmul %x, %w
  %y = softmax %h {dim = 0}
  return %y
})");
  const std::string log = testing::TempDir() + "explain_test.db";
  std::filesystem::remove(log);
  {
    api::SessionOptions options = Workbench::session_options();
    options.log_path = log;
    api::SessionOpener factory{options};
    auto session = factory.open({.path = program});
    ASSERT_TRUE(session) << session.error().message();
    ASSERT_TRUE((*session)->execute(*interp::parse_command("continue"), {}));
  }
  for (const std::string& path : {program, log}) {
    Workbench w(path);
    ASSERT_TRUE(w.perform("continue")) << path;
    w.only("explain");
    w.model().selection.value = "h_gathered";
    w->wait_until_idle(30);
    EXPECT_EQ(w.text("explain/0/subject"), "%h") << path;
  }
  std::filesystem::remove(log);
}

TEST(Focus, AClickOnARankLooksAtItAndStepsGoOnAsBefore) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.click("focus/1"));
  EXPECT_EQ(w.shot().focus, 1);
  EXPECT_TRUE(w.shot().step_scope.empty()) << "steps still move all";
  ASSERT_TRUE(w.click("scope/focus"));
  EXPECT_EQ(w.shot().step_scope, std::vector<interp::Rank>{1});
  ASSERT_TRUE(w.click("focus/0"));
  EXPECT_EQ(w.shot().step_scope, std::vector<interp::Rank>{0}) << "one rank goes along";
}

TEST(Focus, TheGroupOfTheFocusGoesAlong) {
  const std::string path = testing::TempDir() + "square.hir";
  std::ofstream(path) << "mesh @m = <dp=2, tp=2>\n"
                         "host @f on @m () -> () {\n"
                         "  %s = stream \"main\"\n"
                         "  return\n}\n";
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_GE(w.shot().rank_count(), 4);
  const std::string axis = w.shot().program->code->world->axes.front().name;
  ASSERT_TRUE(w.click("scope/" + axis));
  EXPECT_EQ(w.text("scope/" + axis), "on") << "also where both axes have the same size";
  const std::vector<interp::Rank> before = w.shot().step_scope;
  ASSERT_TRUE(w.click("focus/1"));
  EXPECT_EQ(w.shot().focus, 1);
  EXPECT_NE(w.shot().step_scope, before);
  EXPECT_EQ(w.shot().step_scope.size(), before.size());
  EXPECT_EQ(w.text("scope/" + axis), "on");
}

TEST(Palette, ThingsOfTheProgramAreListedAtOnce) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("Ctrl+P"));
  EXPECT_TRUE(w.has("palette/%w1"));
  ASSERT_TRUE(w.fill("palette/input", "b2"));
  EXPECT_EQ(w.model().selection.value, "b2");
}

TEST(Timeline, WhatHangsHasABarToTheEdge) {
  Workbench w(kDeadlock);
  ASSERT_TRUE(w.press("F5"));
  w->wait_until_idle(30);
  EXPECT_NE(w.text("timeline/pending/r0/main").find("waits forever"), std::string::npos);
  EXPECT_FALSE(w.has("timeline/pending/r1/main"));
  ASSERT_TRUE(w.press("Shift+F10"));
  EXPECT_FALSE(w.has("timeline/pending/r0/main")) << "before the end the log knows how it went on";
}

TEST(Values, OfWhatIsNotThereItSaysWhy) {
  Workbench w(kMlp);
  w.only("values");
  w.model().selection.value = "g";
  w->wait_until_idle(30);
  EXPECT_NE(w.text("values/absent").find("not allocated"), std::string::npos);
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "g";
  w->wait_until_idle(30);
  EXPECT_NE(w.text("values/absent").find("is freed at this position"), std::string::npos);
}

TEST(LayoutPanel, ATensorThatIsNotHeldKeepsItsDeclaredLayout) {
  Workbench w(kMlp);
  w.only("layout");
  w.model().selection.value = "g";
  w->wait_until_idle(30);
  EXPECT_NE(w.text("layout/absent").find("is not allocated yet"), std::string::npos);
  const std::string declared = w.text("layout/type");
  EXPECT_NE(declared, "");
  ASSERT_TRUE(w.perform("until launch"));
  w.model().selection.value = "g";
  w->wait_until_idle(30);
  EXPECT_FALSE(w.has("layout/absent"));
  EXPECT_EQ(w.text("layout/type"), declared);
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "g";
  w->wait_until_idle(30);
  EXPECT_NE(w.text("layout/absent").find("is freed at this position"), std::string::npos);
  EXPECT_EQ(w.text("layout/type"), declared);
}

// Takes the log of numbers around 0, so most of %l is NaN.
std::string nan_program() {
  const std::string path = testing::TempDir() + "nan.hir";
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "fusion @f(%a: tensor<8x4xf32> <@m, [{x}, {}]>, %w: tensor<4x4xf32>)\n"
                         "    -> (%y: tensor<8x4xf32> <@m, [{x}, {}]>) {\n"
                         "  %l = log %a\n  %y = matmul %l, %w\n  return %y\n}\n";
  return path;
}

TEST(Nan, AStopNamesTensorElementAndWriterAndSelectsThem) {
  Workbench w(nan_program());
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.press("F8"));
  const interp::StopReason& stop = w.shot().stop;
  EXPECT_EQ(stop.value, "l");
  ASSERT_EQ(stop.element.size(), 2u);
  EXPECT_NE(stop.sentence.find("%l[" + std::to_string(stop.element[0])), std::string::npos)
      << stop.sentence;
  EXPECT_NE(stop.sentence.find("NaN among 16 elements"), std::string::npos) << stop.sentence;
  EXPECT_EQ(w.text("banner"), stop.sentence);
  EXPECT_EQ(w.model().selection.value, "l");
  EXPECT_EQ(w.model().selection.element, stop.element);
  ASSERT_TRUE(w.model().selection.code);
  EXPECT_EQ(w.shot().program->code->address(*w.model().selection.code),
            w.shot().program->code->address(stop.code));
  ASSERT_TRUE(w.press("F10"));
  EXPECT_FALSE(w.has("banner")) << "it goes with the next step";
}

// During an in-place reduction the tensor still holds addends.
TEST(LayoutPanel, APartialSumIsNotShownAsFinishedWhileItsCollectiveWaits) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until all_reduce"));
  ASSERT_TRUE(w.perform("rank 0"));
  ASSERT_TRUE(w.perform("next"));
  w.only("layout");
  w.model().selection.value = "y_product";
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has("layout/partial"));
  EXPECT_NE(w.text("layout/in_flight").find("holds its addend"), std::string::npos)
      << w.text("layout/in_flight");
  ASSERT_TRUE(w.perform("rank all"));
  ASSERT_TRUE(w.perform("continue"));
  w.model().selection.value = "y";
  w->wait_until_idle(30);
  EXPECT_FALSE(w.has("layout/partial"));
  EXPECT_FALSE(w.has("layout/in_flight"));
}

// Answers belong to one log: reopens every panel on another program with fewer ranks than the panel
// has just shown.
TEST(Reopened, OnFewerRanksNoPanelShowsWhatWasThereBefore) {
  Workbench w(kMlp);
  for (const char* panel :
       {"memory", "timeline", "events", "history", "values", "layout", "ledger", "waits", "sql",
        "explain", "schedule", "phases", "watches", "ranks", "diff", "host_ir"}) {
    interp::OpenRequest wide;
    wide.path = kMlp;
    wide.mesh_sizes = {{"tp", 8}};
    w.model().open(wide);
    w->wait_until_idle(30);
    ASSERT_EQ(w.shot().rank_count(), 8) << panel;
    w.only(panel);
    ASSERT_TRUE(w.perform("continue")) << panel;
    w.model().selection.value = "y";
    w.model().selection.rank = 7;
    w->wait_until_idle(30);
    interp::OpenRequest narrow;
    narrow.path = "tests/programs/simple_add.hir";
    w.model().open(narrow);
    w->wait_until_idle(30);
    ASSERT_LT(w.shot().rank_count(), 8) << panel;
    ASSERT_TRUE(w.press("F10")) << panel;
  }
}

TEST(Program, SizesOfOneFunctionAreNotAskedOfAnother) {
  const std::string path = testing::TempDir() + "two_meshes.hir";
  std::ofstream(path) << "mesh @a = <x=2>\nmesh @b = <y=2>\n"
                         "host @f on @a () -> () {\n  %s = stream \"main\"\n  return\n}\n"
                         "host @g on @b () -> () {\n  %s = stream \"main\"\n  return\n}\n";
  Workbench w(path);
  ASSERT_TRUE(w.click("program"));
  ASSERT_TRUE(w.fill("program/axis/x", "3"));
  ASSERT_TRUE(w.click("program/start"));
  EXPECT_EQ(w.shot().rank_count(), 3);
  ASSERT_TRUE(w.click("program"));
  ASSERT_TRUE(w.click("program/function/g"));
  ASSERT_TRUE(w.click("program/start"));
  EXPECT_EQ(w.model().open_error(), "");
  EXPECT_EQ(w.text("program"), "@g y=2");
  std::filesystem::remove(path);
}

// Until the in-place reduction is complete, the addends are read as a sum.
TEST(Values, APartialTensorIsReducedAlsoWhileItsCollectiveIsInFlight) {
  Workbench w(kMlp);
  w.only("values");
  ASSERT_TRUE(w.perform("until collective"));
  const auto look = [&] {
    // Select it explicitly; what one frame requests is drawn in the next.
    w.model().selection.value = "y_product";
    for (int i = 0; i < 4; ++i) {
      w->step();
      w->wait_until_idle(30);
    }
  };
  look();
  const std::string before = w.text("values/0");
  const std::string stats = w.text("values/stats");
  ASSERT_NE(stats, "");
  ASSERT_TRUE(w.perform("next"));
  look();
  EXPECT_EQ(w.text("values/0"), before);
  EXPECT_EQ(w.text("values/stats"), stats);
  EXPECT_NE(w.text("values/notes").find("shown reduced"), std::string::npos);
}

TEST(Values, StatisticsAreOfTheNumbersThatAreShown) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("values");
  w.model().selection.value = "y";
  w->wait_until_idle(30);
  const std::string before = w.text("values/stats");
  ASSERT_TRUE(w.perform("goto start"));
  ASSERT_TRUE(w.perform("next"));
  ASSERT_TRUE(w.perform("set %x[0, 2, 7] = 900"));
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  w->wait_until_idle(30);
  EXPECT_NE(w.text("values/stats"), before);
}

// Both ranks are at the breakpoint: one step moves both past it.
TEST(Breakpoints, AStepTakesEveryRankOffTheLineWhereItStands) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("break all_reduce"));
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kBreakpoint);
  EXPECT_EQ(w.shot().rank(1).op, "all_reduce");
  ASSERT_TRUE(w.press("F10"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kStep);
  EXPECT_NE(w.shot().rank(0).op, "all_reduce");
  EXPECT_NE(w.shot().rank(1).op, "all_reduce");
  EXPECT_EQ(w.shot().breakpoints->front().hits, 2u) << "both passed it";
}

TEST(Breakpoints, APlaceThatDoesNotExistStaysToBeCorrected) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("panel.breaks"));
  ASSERT_TRUE(w.fill("breaks/new", "break nowhere"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("breaks/new"), "break nowhere");
  EXPECT_NE(w.text("breaks/problem").find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace hostir::gui
