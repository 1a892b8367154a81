// How panels share the window's height, and the columns beside the program.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "gui/panels/waits/wait_graph.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

float height(Workbench& w, const std::string& leaf) {
  const WidgetRect* rect = w->app().ui().find("leaf/" + leaf);
  return rect ? rect->max.y - rect->min.y : 0;
}

bool is_inside(Workbench& w, const std::string& name, const std::string& leaf) {
  const WidgetRect* part = w->app().ui().find(name);
  const WidgetRect* whole = w->app().ui().find("leaf/" + leaf);
  return part && whole && part->min.x >= whole->min.x && part->min.y >= whole->min.y &&
         part->max.x <= whole->max.x && part->max.y <= whole->max.y;
}

// The field wraps to the next line together with its button.
TEST(PanelHeight, TheButtonOfTheTimelinesFieldIsInView) {
  for (const int width : {900, 960, 1100, 1280, 1600}) {
    Workbench w(kMlp, width, 720);
    ASSERT_TRUE(w.press("F5"));
    ASSERT_TRUE(w.perform("panel.timeline"));
    EXPECT_TRUE(is_inside(w, "timeline/next", "timeline")) << width;
  }
}

// A sentence of which only a word or two fit is left to the tooltip.
TEST(PanelHeight, AnIdleSentenceIsReadableOrAbsent) {
  int shown = 0;
  int absent = 0;
  for (const int width : {1000, 1280, 1600}) {
    Workbench w(kMlp, width, 720);
    w->step();
    for (const char* panel : {"ledger", "waits", "timeline"}) {
      const WidgetRect* rect = w->app().ui().find(std::string("idle/") + panel);
      if (!rect) continue;
      const bool has_room = rect->max.x - rect->min.x >= 139;
      EXPECT_EQ(has_room, !rect->text.empty()) << width << panel;
      (has_room ? shown : absent)++;
    }
  }
  EXPECT_GT(shown, 0);
  EXPECT_GT(absent, 0);
}

// What a collective moves is drawn whole, or not at all.
TEST(PanelHeight, TheMovesOfACollectiveAreDrawnWhole) {
  int on = 0;
  int off = 0;
  for (const int height : {600, 660, 720, 800, 1000}) {
    Workbench w("tests/programs/deadlock.hir", 1280, height);
    ASSERT_TRUE(w.press("F5"));
    ASSERT_TRUE(w.has("layout/moves")) << height;
    const bool shown = w.text("layout/moves") == "on";
    EXPECT_EQ(shown, w.has("reshard/gives/1")) << height;
    if (shown) {
      EXPECT_TRUE(is_inside(w, "reshard/gives/1", "layout")) << height;
    }
    (shown ? on : off)++;
  }
  EXPECT_GT(on, 0);
  EXPECT_GT(off, 0);
}

// At the end of a run with more collectives than fit, the last ones are in view.
TEST(PanelHeight, CollectivesOpenAtTheNewest) {
  const std::string path = testing::TempDir() + "room_test_collectives.hir";
  std::ofstream(path) << R"(mesh @m = <x=2>
kernel @ones() -> (%v: tensor<4xf32>) {
  %v = constant {value = 1.0} : tensor<4xf32>
  return %v
}
host @many on @m () -> (%y: shard<4xf32, @m, [{}]>) {
  %c = comm over {x}
  %s = stream "main"
  %y = alloc on %s : shard<4xf32, @m, [{}]>
  for %i in 0 .. 60 {
    launch @ones wo(%y) on %s
    all_reduce sum %c rw(%y) on %s
  }
  return %y
}
)";
  Workbench w(path);
  ASSERT_TRUE(w.press("F5"));
  w->step();
  EXPECT_TRUE(w.has("ledger/59"));
  EXPECT_FALSE(w.has("ledger/5"));  // the clipper always measures row 0
  std::filesystem::remove(path);
}

// At the start three panels are idle and shrink to a tab and a sentence; a run fills them.
TEST(PanelHeight, IdlePanelsShrinkToASentenceAndFillAgain) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  w->step();
  for (const char* panel : {"ledger", "waits", "timeline"}) {
    EXPECT_TRUE(w.has(std::string("idle/") + panel)) << panel;
    if (std::string(panel) != "waits") {
      EXPECT_LT(height(w, panel), 90) << panel;
    }
  }
  const float before = height(w, "timeline");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_FALSE(w.has("idle/timeline"));
  EXPECT_FALSE(w.has("idle/ledger"));
  EXPECT_GT(height(w, "timeline"), before + 40);
}

TEST(PanelHeight, ARecordedLogShowsItsTimelineAtOnce) {
  const std::string path = testing::TempDir() + "room_test.db";
  std::filesystem::remove(path);
  {
    api::SessionOptions options;
    options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
    options.log_path = path;
    api::SessionOpener factory{options};
    AppOptions app;
    app.open.path = kMlp;
    Headless window(factory, app, 800, 600);
    window.wait_until_idle(30);
    ASSERT_TRUE(window.press("F5"));
    window.wait_until_idle(30);
  }
  Workbench w(path);
  ASSERT_TRUE(w.perform("goto start"));
  w.perform("layout.Step");
  w->step();
  EXPECT_FALSE(w.has("idle/timeline"));
  EXPECT_TRUE(w.has("timeline"));
  std::filesystem::remove(path);
}

// Stepping makes panels grow as needed but never shrink, so that nothing moves under the mouse. An
// idle panel that gets its first contents takes back its unused height, once.
TEST(PanelHeight, WhatHasGrownStaysWhileOneSteps) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w->step();
  std::map<std::string, float> before;
  for (const char* panel : {"ledger", "timeline", "values"}) before[panel] = height(w, panel);
  ASSERT_TRUE(w.perform("goto start"));
  bool idle = w.has("idle/waits");
  for (int i = 0; i < 12; ++i) {
    const bool woke = std::exchange(idle, w.has("idle/waits")) && !idle;
    for (auto& [panel, least] : before) {
      EXPECT_GE(height(w, panel), woke ? 160 : least) << panel << " at step " << i;
      least = height(w, panel);
    }
    w.press("F10");
  }
  ASSERT_TRUE(w.perform("panel.sql"));
  ASSERT_TRUE(w.perform("panel.ledger"));
  EXPECT_GE(height(w, "ledger"), before["ledger"]) << "nor by looking at another tab";
}

// How many rows of a table are inside the panel.
float rows_shown(Workbench& w, const std::string& panel, const std::string& first,
                 const std::string& below) {
  const Ui& ui = w->app().ui();
  const WidgetRect* leaf = ui.find("leaf/" + panel);
  const WidgetRect* a = ui.find(first);
  const WidgetRect* b = ui.find(below);
  if (!leaf || !a || !b) return 0;
  return (leaf->max.y - a->min.y) / (b->min.y - a->min.y);
}

// A tab that is clicked stays under the mouse.
TEST(PanelHeight, ATabStaysUnderTheMouseThatClickedIt) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1600, 1000)}) {
    Workbench w("tests/programs/sp_toy.hir", width, height);
    ASSERT_TRUE(w.press("F5"));
    for (const char* panel : {"breaks", "watches", "messages", "notes", "ranks", "phases", "editor",
                              "host_ir", "history", "inside", "values", "events", "sql", "ledger",
                              "schedule", "statistics", "timeline"}) {
      SCOPED_TRACE(std::string(panel) + " at " + std::to_string(width));
      const std::string tab = std::string("tab/") + panel;
      const WidgetRect* rect = w->app().ui().find(tab);
      ASSERT_TRUE(rect);
      const float before = rect->min.y;
      ASSERT_TRUE(w.click(tab));
      for (int i = 0; i < 3; ++i) w->step();
      ASSERT_TRUE(w->app().ui().find(tab));
      EXPECT_EQ(w->app().ui().find(tab)->min.y, before);
    }
    EXPECT_GE(rows_shown(w, "values", "values/0", "values/5"), 5);
    EXPECT_GE(rows_shown(w, "ledger", "ledger/0", "ledger/1"), 5);
  }
}

TEST(PanelHeight, ValuesAndCollectivesHaveFiveRows) {
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1600, 1000)}) {
    Workbench w("tests/programs/sp_toy.hir", width, height);
    w.perform("layout.Step");
    ASSERT_TRUE(w.press("F5"));
    w->wait_until_idle();
    EXPECT_GE(rows_shown(w, "values", "values/0", "values/5"), 5) << width << "x" << height;
    EXPECT_GE(rows_shown(w, "ledger", "ledger/0", "ledger/1"), 5) << width << "x" << height;
  }
}

// The default layout rearranges itself in a low window, also at a deadlock.
TEST(PanelHeight, LowWindowsHaveFiveRowsToo) {
  for (const auto& [width, height] :
       {std::pair(1000, 700), std::pair(1280, 720), std::pair(1366, 768), std::pair(1600, 1000)}) {
    Workbench w("tests/programs/sp_toy.hir", width, height);
    ASSERT_TRUE(w.press("F5"));
    w->wait_until_idle();
    EXPECT_GE(rows_shown(w, "values", "values/0", "values/5"), 5) << width << "x" << height;
    EXPECT_GE(rows_shown(w, "ledger", "ledger/0", "ledger/1"), 5) << width << "x" << height;
    EXPECT_GE(rows_shown(w, "ranks", "ranks/0", "ranks/1"), 3) << width << "x" << height;
    Workbench stuck("tests/programs/deadlock.hir", width, height);
    ASSERT_TRUE(stuck.press("F5"));
    stuck->wait_until_idle();
    EXPECT_TRUE(stuck.has("leaf/waits")) << width << "x" << height;
    EXPECT_GE(rows_shown(stuck, "ranks", "ranks/0", "ranks/1"), 2) << width << "x" << height;
  }
}

// The card of a mismatch takes its height from the neighbours, but not their last five rows;
// neither does a window on a high-resolution screen.
TEST(PanelHeight, AMismatchLeavesFiveRowsOfValues) {
  struct Case {
    int width, height;
    const char* scale;
  };
  for (const Case& c :
       {Case{1280, 720, "1"}, Case{1000, 700, "1"}, Case{1600, 1000, "1"}, Case{1280, 720, "2"},
        Case{1600, 1000, "2"}, Case{1920, 1080, "2"}, Case{2560, 1440, "2"}}) {
    SCOPED_TRACE(std::to_string(c.width) + "x" + std::to_string(c.height) + " scale " + c.scale);
    const std::string settings = write_file("room.settings", std::string("scale = ") + c.scale);
    {
      Workbench w("tests/programs/sp_toy.hir", c.width, c.height, settings);
      ASSERT_TRUE(w.press("F5"));
      ASSERT_TRUE(w.has("leaf/values") || w.perform("panel.values"));
      EXPECT_GE(rows_shown(w, "values", "values/0", "values/5"), 5);
    }
    Workbench wrong("tests/programs/mismatch.hir", c.width, c.height, settings);
    ASSERT_TRUE(wrong.press("F5"));
    ASSERT_TRUE(wrong.has("ledger/mismatch"));
    const WidgetRect* card = wrong->app().ui().find("ledger/card");
    ASSERT_TRUE(card);
    const float scale = std::stof(c.scale);
    EXPECT_GE(card->max.y - card->min.y, 90 * scale) << "the sentence and one side";
    ASSERT_TRUE(wrong.has("leaf/values") || wrong.perform("panel.values"));
    const WidgetRect* first = wrong->app().ui().find("values/0");
    const WidgetRect* leaf = wrong->app().ui().find("leaf/values");
    ASSERT_TRUE(first && leaf);
    EXPECT_GE((leaf->max.y - first->min.y) / (first->max.y - first->min.y), 5);
  }
}

// Height that nobody needs goes to panels with contents.
TEST(PanelHeight, AnIdlePanelIsOneLineBelowSmallTables) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w->wait_until_idle();
  ASSERT_TRUE(w.has("idle/waits"));
  EXPECT_LT(height(w, "waits"), 80);
}

// The columns that a narrow panel omits do not depend on those that it omitted in the last frame.
TEST(PanelHeight, TheColumnsOfRanksStay) {
  Workbench w(kMlp, 1000, 700);
  w.perform("layout.Step");
  w->wait_until_idle();
  const auto columns = [&] {
    std::set<std::string> names;
    for (const auto& [name, rect] : w->app().ui().widgets()) {
      if (name.starts_with("ranks/0/")) names.insert(name);
    }
    return names;
  };
  const std::set<std::string> first = columns();
  EXPECT_FALSE(first.contains("ranks/0/memory / peak"));
  for (int i = 0; i < 4; ++i) {
    w->step();
    EXPECT_EQ(columns(), first) << "frame " << i;
  }
}

// Columns do not move, appear or disappear while the user steps through past positions.
TEST(PanelHeight, TheColumnsOfRanksStayWhileOneSteps) {
  Workbench w(kMlp, 1280, 720);
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w->wait_until_idle();
  for (int i = 0; i < 3; ++i) w->step();
  const auto columns = [&] {
    std::map<std::string, float> left;
    for (const auto& [name, rect] : w->app().ui().widgets()) {
      if (name.starts_with("ranks/0/")) left[name] = rect.min.x;
    }
    return left;
  };
  std::map<std::string, float> at_end = columns();
  ASSERT_TRUE(w.perform("goto start"));
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(columns(), at_end) << "after step " << i;
    ASSERT_TRUE(w.press("F10"));
  }
}

// In a narrow panel, a long state does not hide a rank's place and the ranks that it waits for.
TEST(PanelHeight, WhomARankWaitsForIsInView) {
  Workbench w("tests/programs/deadlock.hir", 1280, 720);
  ASSERT_TRUE(w.press("F5"));
  for (int i = 0; i < 3; ++i) w->step();
  const WidgetRect* waits = w->app().ui().find("ranks/0/waits");
  const WidgetRect* leaf = w->app().ui().find("leaf/ranks");
  ASSERT_TRUE(waits && leaf);
  EXPECT_EQ(w.text("ranks/0/waits"), "r1");
  EXPECT_LT(waits->max.x, leaf->max.x);
}

// No line of the program is cut at the top: after a move, and at the end of the text.
TEST(PanelHeight, TheFirstLineInViewIsWhole) {
  for (const int height : {720, 733, 1000}) {
    Workbench w(kMlp, 1280, height);
    const auto first_line = [&] {
      w->wait_until_idle();
      const WidgetRect* view = w->app().ui().find("host_ir/view");
      if (!view) return false;
      for (const auto& [name, rect] : w->app().ui().widgets()) {
        if (name.starts_with("host_ir/line/") && std::fabs(rect.min.y - view->min.y) < 1)
          return true;
      }
      return false;
    };
    EXPECT_TRUE(first_line()) << "at the start, height " << height;
    ASSERT_TRUE(w.press("F5"));
    EXPECT_TRUE(first_line()) << "at the end, height " << height;
    ASSERT_TRUE(w->scroll("host_ir/view", -100));
    EXPECT_TRUE(first_line()) << "scrolled to the end, height " << height;
  }
}

TEST(PanelHeight, ALineNumberIsPartOfTheTargetOfABreakpoint) {
  Workbench w("tests/programs/deadlock.hir");
  const int line = line_of(w, "launch @ones wo(%y)");
  const std::string gutter = "host_ir/gutter/" + std::to_string(line);
  const WidgetRect* target = w->app().ui().find(gutter);
  const WidgetRect* text = w->app().ui().find("host_ir/line/" + std::to_string(line));
  ASSERT_TRUE(target && text);
  EXPECT_GT(target->max.x - target->min.x, 50);
  EXPECT_FLOAT_EQ(target->max.x, text->min.x);
  ASSERT_TRUE(w.click(gutter));
  EXPECT_EQ(w.shot().breakpoints->size(), 1u);
}

// The number before a line is that of the user's file, although the text that runs is printed anew.
TEST(PanelHeight, LinesHaveTheNumbersOfTheUsersFile) {
  const std::string path = write_file("numbers.hir",
                                      "mesh @m = <x=2>\n\n\n\n"
                                      "// of a comment, too\n"
                                      "host @f on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n"
                                      "  %s = stream \"s\"\n\n\n"
                                      "  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
                                      "  return %y\n}\n");
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  const auto number = [&](const std::string& text) {
    return w.text("host_ir/number/" + std::to_string(line_of(w, text)));
  };
  EXPECT_TRUE(says(number("%s = stream"), "7")) << number("%s = stream");
  EXPECT_TRUE(says(number("%y = alloc"), "10")) << number("%y = alloc");
  EXPECT_TRUE(says(number("return %y"), "11")) << number("return %y");
}

TEST(PanelHeight, ASentenceThatIsClickedOpensThePanelForGood) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  const float before = height(w, "timeline");
  ASSERT_TRUE(w.click("idle/timeline"));
  EXPECT_GT(height(w, "timeline"), before + 100);
  const auto tree = PanelTree::parse(w->app().tree().to_string());
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->to_string(), w->app().tree().to_string());
  EXPECT_NE(tree->to_string().find("]!"), std::string::npos);
}

TEST(PanelHeight, SmallWindowsKeepEveryPanelInside) {
  Workbench w(kMlp, 640, 400);
  w.perform("layout.Step");
  w.press("F5");
  for (const auto& [name, rect] : w->app().ui().widgets()) {
    if (!name.starts_with("leaf/") || name.ends_with("/right")) continue;
    EXPECT_GE(rect.max.y, rect.min.y) << name;
    EXPECT_LE(rect.max.y, 400) << name;
  }
}

TEST(Columns, HitsCountUpAndDownWithTheRun) {
  Workbench w(kMlp, 1920, 1200);
  w.only("host_ir");
  ASSERT_TRUE(w.perform("next"));
  ASSERT_TRUE(w.perform("next"));
  const auto passed = [&] {
    int n = 0;
    for (const auto& [name, rect] : w->app().ui().widgets()) n += name.starts_with("host_ir/hits/");
    return n;
  };
  w->wait_until_idle();
  EXPECT_EQ(passed(), 2);
  ASSERT_TRUE(w.perform("reverse-next"));
  w->wait_until_idle();
  EXPECT_EQ(passed(), 1);
}

// A value never covers the text of its line.
TEST(Columns, ValuesStandBesideTheText) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  w.press("F5");
  int values = 0;
  for (const auto& [name, rect] : w->app().ui().widgets()) {
    if (!name.starts_with("host_ir/value/")) continue;
    ++values;
    const std::string line = name.substr(std::string("host_ir/value/").size());
    const WidgetRect* hits = w->app().ui().find("host_ir/hits/" + line);
    if (hits) {
      EXPECT_LE(rect.max.x, hits->min.x + 1) << name;
    }
  }
  EXPECT_GT(values, 0);
}

TEST(Breakpoints, ConditionRanksAndIgnoreAreEditedInTheTable) {
  Workbench w(kMlp);
  w.only("breaks");
  ASSERT_TRUE(w.fill("breaks/new", "break all_reduce"));
  ASSERT_TRUE(w.has("breaks/1/condition"));
  ASSERT_TRUE(w.fill("breaks/1/condition", "rank == 1"));
  EXPECT_NE(w.shot().breakpoints->front().text.find("if rank == 1"), std::string::npos);
  ASSERT_TRUE(w.fill("breaks/1/condition", "rank =="));
  EXPECT_TRUE(w.has("breaks/problem"));
  EXPECT_NE(w.shot().breakpoints->front().text.find("if rank == 1"), std::string::npos);
  ASSERT_TRUE(w.fill("breaks/1/ignore", "3"));
  EXPECT_EQ(w.shot().breakpoints->front().ignore, 3);
  ASSERT_TRUE(w.fill("breaks/1/ranks", "0"));
  ASSERT_EQ(w.shot().breakpoints->size(), 1u);
  const std::string text = w.shot().breakpoints->front().text;
  EXPECT_NE(text.find("on 0"), std::string::npos) << text;
  EXPECT_NE(text.find("if rank == 1"), std::string::npos) << text;
}

TEST(WaitGraph, ManyRanksThatWaitAlikeAreOneNode) {
  interp::WaitsSnapshot waits;
  for (interp::Rank r = 1; r < 1000; ++r) waits.edges.push_back({r, 0, "", "", "all_reduce seq 3"});
  waits.culprits = {0};
  const WaitGraph graph = make_wait_graph(waits, 12);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_TRUE(graph.nodes[0].culprit);
  EXPECT_EQ(graph.nodes[1].ranks.size(), 999u);
  EXPECT_EQ(graph.links.size(), 1u);
  EXPECT_EQ(ranks_text(graph.nodes[1].ranks), "999 ranks: r1..r999");
}

TEST(WaitGraph, TheCrossedDeadlockIsACycleWithTwoLabels) {
  Workbench w("tests/programs/deadlock.hir", 1600, 1000, "", "@crossed");
  w.press("F5");
  w.only("waits");
  ASSERT_TRUE(w.has("waits/edge/0/1"));
  ASSERT_TRUE(w.has("waits/edge/1/0"));
  const WidgetRect a = *w->app().ui().find("waits/edge/0/1");
  const WidgetRect b = *w->app().ui().find("waits/edge/1/0");
  const bool apart =
      a.max.y < b.min.y || b.max.y < a.min.y || a.max.x < b.min.x || b.max.x < a.min.x;
  EXPECT_TRUE(apart);
  ASSERT_TRUE(w.click("waits/node/1"));
  EXPECT_EQ(w.shot().focus, 1);
}

}  // namespace
}  // namespace hostir::gui
