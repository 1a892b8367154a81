// Panels show only what is open: never data of another file, another group or another part.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "gui/panels/timeline/timeline_data.h"
#include "hostir/io/files.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

void open(Workbench& w, const std::string& path) {
  w->app().drop_file(path);
  ASSERT_TRUE(w->wait_until_idle(30));
}

TEST(Values, StatisticsAreNotThoseOfTheFileBefore) {
  Workbench w(kMlp);
  w.only("values");
  w.model().selection.value = "x";
  w->wait_until_idle(30);
  const std::string before = w.text("values/stats");
  ASSERT_NE(before, "");
  open(w, write_file("b.hir",
                     "kernel @k() -> (%v: tensor<4xf32>) {\n"
                     "  %v = constant {value = 3} : tensor<4xf32>\n  return %v\n}\n"
                     "mesh @m = <r=1>\n"
                     "host @h on @m (%x: tensor<4xf32>) -> (%v: tensor<4xf32>) {\n"
                     "  %s = stream \"s\"\n  %v = alloc on %s : tensor<4xf32>\n"
                     "  launch @k wo(%v) on %s\n  return %v\n}\n"));
  ASSERT_TRUE(w.model().snapshot());
  w.only("values");
  w.model().selection.value = "x";
  w->wait_until_idle(30);
  w->step();
  w->wait_until_idle(30);
  ASSERT_TRUE(w.has("values/stats"));
  EXPECT_NE(w.text("values/stats"), before);
}

TEST(Values, OfAPartOfATensorThatIsSaidAndAnotherSliceCanBeChosen) {
  Workbench w("tests/programs/mesh_3d.hir");
  w.only("values");
  w.model().selection.value = "x";
  w->wait_until_idle(30);
  ASSERT_TRUE(w.has("values/stats"));
  EXPECT_TRUE(w.text("values/stats").starts_with("of this part: min")) << w.text("values/stats");
  ASSERT_TRUE(w.has("values/slice/0"));
  EXPECT_EQ(w.text("values/slice/0"), "0");
  const std::string before = w.text("values/stats");
  ASSERT_TRUE(w.click("values/slice/0"));  // its middle
  w->step();
  w->wait_until_idle(30);
  EXPECT_NE(w.text("values/slice/0"), "0");
  EXPECT_NE(w.text("values/stats"), before);
}

TEST(Editor, SaysNothingOfTheFileBefore) {
  const std::string bad = write_file("bad.hir",
                                     "fusion @f(%a: tensor<2x3xf32>, %b: tensor<5x2xf32>) -> (%y: "
                                     "tensor<2x2xf32>) {\n  %y = matmul %a, %b\n  return %y\n}\n");
  Workbench w(bad);
  ASSERT_TRUE(w.click("error/edit"));
  ASSERT_TRUE(w.has("editor/diagnostics"));
  open(w, "tests/programs/simple_add.hir");
  w.only("editor");
  EXPECT_FALSE(w.has("editor/diagnostics"));
  EXPECT_EQ(w.text("editor/state"), "as in the file");
}

TEST(Editor, WhatItSavesWasNotChangedByAnotherProgram) {
  const auto text = io::read_file(kMlp);
  ASSERT_TRUE(text);
  const std::string path = write_file("saved.hir", *text);
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(5));
  Workbench w(path);
  w.only("editor");
  ASSERT_TRUE(w.click("editor/text"));
  w->press("Home");
  w->type("// mine ");
  w->wait_until_idle();
  ASSERT_TRUE(w.click("editor/save"));
  EXPECT_NE(io::read_file(path)->find("// mine"), std::string::npos);
  for (int i = 0; i < 90; ++i) w->step();  // the file is checked once a second
  EXPECT_FALSE(w.has("banner")) << w.text("banner");
}

TEST(Ledger, TwoGroupsWithTheSameNumberAreTwoCollectives) {
  Workbench w("tests/programs/mesh_3d.hir");
  ASSERT_TRUE(w.press("F5"));
  const auto& rows = *w.shot().ledger;
  ASSERT_GE(rows.size(), 2u);
  ASSERT_EQ(rows[0].comm, rows[1].comm);
  ASSERT_EQ(rows[0].sequence, rows[1].sequence);
  w.only("ledger");
  ASSERT_TRUE(w.click("ledger/0"));
  const auto first = w.model().selection.collective;
  ASSERT_TRUE(w.click("ledger/1"));
  const auto second = w.model().selection.collective;
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->group, rows[0].group);
  EXPECT_EQ(second->group, rows[1].group);
  EXPECT_FALSE(*first == *second);
}

TEST(Ledger, WhatItDoesNotKeepIsCounted) {
  Workbench w(write_file("many.hir",
                         "mesh @m = <r=2>\n"
                         "host @h on @m (inout %x: tensor<4xf32>) {\n"
                         "  %c = comm over {r}\n  %s = stream \"s\"\n"
                         "  for %i in 0..200 {\n    all_reduce sum %c rw(%x) on %s\n  }\n"
                         "  return\n}\n"));
  ASSERT_TRUE(w.model().snapshot()) << w.text("error/text");
  ASSERT_TRUE(w.press("F5"));
  w.only("ledger");
  const size_t shown = w.shot().ledger->size();
  ASSERT_LT(shown, 200u);
  EXPECT_EQ(w.text("ledger/older"), std::to_string(200 - shown));
}

// In a ring every rank sends and receives number 0; each message has one sender and one receiver.
TEST(Timeline, AMessageHasItsOwnSenderAndReceiver) {
  Workbench w("tests/scripts/collectives/send_recv.hir", 1600, 1000, "", "ring");
  ASSERT_TRUE(w.press("F5"));
  std::set<std::pair<interp::Rank, interp::Rank>> pairs;
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    interp::EventFilter filter;
    filter.mnemonics = {"send"};
    const auto sends = log.events(filter, stop);
    for (const interp::LogEvent& e : sends ? *sends : std::vector<interp::LogEvent>()) {
      const auto event = fetch_event(log, e.id, nullptr, stop);
      EXPECT_TRUE(event && event->members.size() == 2 && event->collective);
      if (!event || event->members.size() != 2 || !event->collective) continue;
      EXPECT_EQ(event->collective->pair->first, e.rank);
      EXPECT_NE(event->members[0].kind, event->members[1].kind);
      pairs.insert(*event->collective->pair);
    }
  });
  EXPECT_EQ(pairs.size(), 4u);
}

TEST(Keys, OfAPanelAreInTheList) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("help"));
  ASSERT_TRUE(w.has("help/key/timeline/F"));
  std::set<std::string> of_actions;
  for (const Action& action : w->app().actions().all()) of_actions.insert(action.key);
  for (const auto& panel : make_panels()) {
    for (const PanelKey& key : panel->keys())
      EXPECT_FALSE(of_actions.contains(std::string(key.key))) << key.key;
  }
}

}  // namespace
}  // namespace hostir::gui
