// The frame around the panels: palette, layouts, tabs, settings, bookmarks, watches.
#include <filesystem>
#include <set>

#include "gui/draw/fuzzy.h"
#include "gui/files/settings.h"
#include "gui/panels/panels.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Fuzzy, BeginningsOfWordsWin) {
  EXPECT_FALSE(fuzzy_score("Step over", "xyz"));
  EXPECT_GT(*fuzzy_score("Step over", "so"), *fuzzy_score("Show ledger", "so") - 64);
  EXPECT_GT(*fuzzy_score("Step over", "step"), *fuzzy_score("Set the place", "step"));
  EXPECT_GT(*fuzzy_score("Switch dark and light theme", "theme"),
            *fuzzy_score("Focus: up on the mesh", "theme"));
}

TEST(Actions, KeysAreUsedOnceAndEverythingHasHelp) {
  Workbench w(kMlp);
  std::set<std::string> keys;
  std::set<std::string> names;
  for (const Action& action : w->app().actions().all()) {
    EXPECT_TRUE(names.insert(action.name).second) << action.name;
    EXPECT_FALSE(action.help.empty()) << action.name;
    if (action.key.empty()) continue;
    EXPECT_TRUE(keys.insert(action.key).second) << action.key << " of " << action.name;
    const size_t plus = action.key.rfind('+');
    const std::string key = plus == std::string::npos || plus + 1 == action.key.size()
                                ? action.key
                                : action.key.substr(plus + 1);
    EXPECT_GE(key_code(key), 0) << action.key;
  }
}

TEST(Palette, FindsActionsTensorsRanksAndRunsCommands) {
  Workbench w(kMlp);
  w.press("F1");
  ASSERT_TRUE(w.fill("palette/input", "step over"));
  EXPECT_GT(w.decision(), 0u);
  EXPECT_FALSE(w.has("palette/input"));
  w.press("F1");
  ASSERT_TRUE(w.fill("palette/input", "r1"));
  EXPECT_EQ(w.shot().focus, 1);
  w.press("F1");
  ASSERT_TRUE(w.fill("palette/input", "%w1"));
  EXPECT_EQ(w.model().selection.value, "w1");
  w.press("F1");
  ASSERT_TRUE(w.fill("palette/input", "break all_reduce if rank == 1"));
  EXPECT_EQ(w.shot().breakpoints->size(), 1u);
  w.press("F1");
  ASSERT_TRUE(w.has("palette/input"));
  w.press("Esc");
  EXPECT_FALSE(w.has("palette/input"));
}

TEST(Tabs, AreDraggedToOtherLeavesAndToEdges) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w->drag("tab/phases", "tab/ledger"));
  w->wait_until_idle();
  std::string layout = w->app().tree().to_string();
  EXPECT_NE(layout.find("[ledger events sql phases*]"), std::string::npos) << layout;
  ASSERT_TRUE(w->drag("tab/phases", "leaf/timeline/right"));
  w->wait_until_idle();
  layout = w->app().tree().to_string();
  EXPECT_NE(layout.find("h(0.500 [timeline* schedule statistics] [phases*])"), std::string::npos)
      << layout;
}

TEST(Tabs, ClosedMaximisedAndShownAgain) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  w->app().tree().close("timeline");
  w->wait_until_idle();
  EXPECT_FALSE(w.has("tab/timeline"));
  w.perform("panel.timeline");
  EXPECT_TRUE(w.has("tab/timeline"));
  w->hover("leaf/waits");
  ASSERT_TRUE(w.press("Shift+Esc"));
  EXPECT_TRUE(w.has("tab/waits"));
  EXPECT_FALSE(w.has("tab/host_ir"));
  ASSERT_TRUE(w.press("Shift+Esc"));
  EXPECT_TRUE(w.has("tab/host_ir"));
}

TEST(Layouts, TextSurvivesParsingAndNonsenseIsRefused) {
  for (const NamedLayout& layout : builtin_layouts()) {
    const auto tree = PanelTree::parse(layout.text);
    ASSERT_TRUE(tree) << layout.name;
    const auto again = PanelTree::parse(tree->to_string());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->to_string(), tree->to_string());
    for (const auto& panel : make_panels()) static_cast<void>(tree->is_open(panel->id()));
  }
  for (const char* bad : {"", "h(", "h(0.5 [a])", "h(2 [a] [b])", "[a] [b]", "v(0.5 [a] [b]"})
    EXPECT_FALSE(PanelTree::parse(bad)) << bad;
}

TEST(Settings, SurviveWritingAndReading) {
  Settings s;
  s.theme = ThemeKind::kLight;
  s.scale = 1.5f;
  s.layout = "[a b*]";
  s.add_recent("/x/a.hir");
  s.add_recent("/x/b.hir");
  s.keep_program({"/x/a.hir",
                  {"break all_reduce if rank == 1"},
                  {"%y.max"},
                  {"12 the bad one"},
                  {"3500 slow here"}});
  s.keep_panel("timeline", "lane=9\naxis=steps\n");
  s.keep_panel("messages", "show=101");
  s.keep_panel("timeline", "lane=17\naxis=steps\n");
  s.other = {"future = thing"};
  const Settings back = Settings::parse(s.to_string());
  EXPECT_EQ(back.to_string(), s.to_string());
  EXPECT_EQ(back.recent.front(), "/x/b.hir");
  ASSERT_TRUE(back.find_program("/x/a.hir"));
  EXPECT_EQ(back.find_program("/x/a.hir")->bookmarks.front(), "12 the bad one");
  EXPECT_EQ(back.find_program("/x/a.hir")->notes.front(), "3500 slow here");
  EXPECT_EQ(back.panel("timeline"), "lane=17\naxis=steps\n");
  EXPECT_EQ(back.panel("messages"), "show=101\n");
  EXPECT_EQ(back.panel("time"), "") << "of another panel whose name begins so";
}

TEST(Programs, BreakpointsWatchesAndBookmarksComeBack) {
  const std::string settings =
      (std::filesystem::path(testing::TempDir()) / "hostir_program.conf").string();
  std::filesystem::remove(settings);
  {
    Workbench w(kMlp, 1600, 1000, settings);
    w.perform("break all_reduce");
    w.press("F6");
    w.press("Ctrl+B");
    w.model().watches.push_back("%x.max");
  }
  Workbench w(kMlp, 1600, 1000, settings);
  ASSERT_EQ(w.shot().breakpoints->size(), 1u);
  ASSERT_EQ(w.model().bookmarks.size(), 1u);
  EXPECT_EQ(w.model().watches, std::vector<std::string>{"%x.max"});
  ASSERT_TRUE(w.press("Ctrl+1"));
  EXPECT_EQ(w.decision(), w.model().bookmarks.front().decision) << "what has not run yet runs";
  EXPECT_GT(w.decision(), 0u);
  std::filesystem::remove(settings);
}

TEST(Position, TheSliderAndTheButtonsGoThroughTheHistory) {
  Workbench w(kMlp);
  w.press("F5");
  const uint64_t end = w.decision();
  ASSERT_TRUE(w.click("position/start"));
  EXPECT_EQ(w.decision(), 0u);
  ASSERT_TRUE(w.click("position/slider"));
  EXPECT_GT(w.decision(), 0u);
  EXPECT_LT(w.decision(), end);
  ASSERT_TRUE(w.click("position/end"));
  EXPECT_EQ(w.decision(), end);
  ASSERT_TRUE(w.press("Ctrl+Left"));
  EXPECT_EQ(w.decision(), end - 1);
  w.press("Ctrl+G");
  w->type("3");
  w.press("Enter");
  EXPECT_EQ(w.decision(), 3u);
}

TEST(Cursor, RunsToTheSelectedLineBothWays) {
  Workbench w(kMlp);
  w.press("F6");
  const interp::CodeIndex there = w.shot().rank(0).code;
  w.press("F5");
  w.model().selection.code = there;
  ASSERT_TRUE(w.press("Ctrl+Shift+F10"));
  EXPECT_TRUE(w.shot().rank(0).code == there || w.shot().rank(1).code == there);
  w.perform("goto start");
  w.model().selection.code = there;
  ASSERT_TRUE(w.press("Ctrl+F10"));
  EXPECT_EQ(w.shot().rank(0).code, there);
}

TEST(Watch, CellsFollowTheRun) {
  Workbench w("tests/programs/simple_add.hir");
  w.only("watches");
  ASSERT_TRUE(w.fill("watches/new", "%a[1]"));
  ASSERT_TRUE(w.fill("watches/new", "%a.sum"));
  EXPECT_EQ(w.text("watches/0/whole"), "2");
  EXPECT_EQ(w.text("watches/1/whole"), "10");
  ASSERT_TRUE(w.fill("watches/new", "%nonsense"));
  EXPECT_EQ(w.text("watches/2/whole"), "not there now");
  ASSERT_TRUE(w.click("watches/2/delete"));
  EXPECT_EQ(w.model().watches.size(), 2u);
}

TEST(Chrome, MenusOpenAndTheHelpListsKeys) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.click("menu/Run"));
  EXPECT_TRUE(w.has("menu/until rendezvous"));
  ASSERT_TRUE(w.click("menu/next"));
  EXPECT_GT(w.decision(), 0u);
  w.press("?");
  EXPECT_TRUE(w.has("help"));
}

TEST(Deadlock, TheBannerLeadsToTheRank) {
  Workbench w("tests/programs/deadlock.hir");
  w.press("F5");
  ASSERT_NE(w.text("banner").find("rank 1"), std::string::npos) << w.text("banner");
  ASSERT_TRUE(w.click("banner/focus"));
  EXPECT_EQ(w.shot().focus, 1);
  ASSERT_TRUE(w.click("banner/view.fault"));
  EXPECT_TRUE(w.model().selection.code);
}

}  // namespace
}  // namespace hostir::gui
