// Broken files, small windows and many ranks: the message is clear and the window stays usable.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "gui/panels/panels.h"
#include "hostir/io/files.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

// After a failed open, the window can still open another file.
void expect_usable(Workbench& w) {
  w->app().drop_file(kMlp);
  ASSERT_TRUE(w->wait_until_idle(30));
  ASSERT_TRUE(w.model().snapshot());
  EXPECT_TRUE(w.press("F10"));
  EXPECT_GT(w.decision(), 0u);
}

struct BadFile {
  const char* name;
  std::string bytes;
  const char* says;
};

class NotALog : public testing::TestWithParam<BadFile> {};

TEST_P(NotALog, IsExplainedAndTheWindowGoesOn) {
  const std::string path = write_file(GetParam().name, GetParam().bytes);
  Workbench w(path);
  EXPECT_FALSE(w.model().snapshot());
  EXPECT_NE(w.text("error/text").find(GetParam().says), std::string::npos) << w.text("error/text");
  EXPECT_NE(w.text("error/title").find(GetParam().name), std::string::npos);
  expect_usable(w);
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(
    Files, NotALog,
    testing::Values(
        BadFile{"bytes.db", std::string("\x01\x00\x02\xff garbage", 12), "neither a program"},
        BadFile{"words.txt", "hello, this is a letter\n", "neither a program"},
        BadFile{"empty.hir", "", "no fusion and no host function"},
        BadFile{"cut.db", std::string("SQLite format 3\0", 16) + std::string(600, 'x'), "log"},
        BadFile{"bad.hir",
                "mesh @m = <tp=2>\nfusion @f(%a: tensor<4xf32> <@m, [{tq}]>) -> (tensor<4xf32>) "
                "{ return %a }\n",
                "unknown axis"}),
    [](const testing::TestParamInfo<BadFile>& test) {
      std::string name = test.param.name;
      return name.substr(0, name.find('.'));
    });

TEST(Robust, AFileThatIsNotThere) {
  Workbench w("tests/programs/no_such.hir");
  EXPECT_NE(w.text("error/text").find("No such file"), std::string::npos) << w.text("error/text");
  expect_usable(w);
}

TEST(Robust, AFailedOpeningKeepsWhatIsOpen) {
  Workbench w(kMlp);
  w.press("F10");
  const uint64_t at = w.decision();
  w->app().drop_file("tests/programs/no_such.hir");
  ASSERT_TRUE(w->wait_until_idle(30));
  EXPECT_EQ(w.decision(), at);
  EXPECT_NE(w.text("banner").find("no_such.hir"), std::string::npos) << w.text("banner");
  ASSERT_TRUE(w.click("banner/dismiss"));
  EXPECT_FALSE(w.has("banner"));
}

TEST(Robust, AFileDeletedWhileOpen) {
  const auto text = io::read_file(kMlp);
  ASSERT_TRUE(text);
  const std::string path = write_file("deleted.hir", *text);
  Workbench w(path);
  ASSERT_TRUE(w.press("F10"));
  std::filesystem::remove(path);
  for (int i = 0; i < 90; ++i) w->step();  // the file is checked once a second
  EXPECT_NE(w.text("banner").find("deleted"), std::string::npos) << w.text("banner");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
}

TEST(Robust, AChangedFileIsLoadedAgainAtTheSamePlace) {
  const auto text = io::read_file(kMlp);
  ASSERT_TRUE(text);
  const std::string path = write_file("changed.hir", *text);
  Workbench w(path);
  w.press("F6");
  w.perform("break all_reduce");
  const uint64_t at = w.decision();
  std::ofstream(path) << "// a comment more\n" << *text;
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(2));
  for (int i = 0; i < 90; ++i) w->step();
  ASSERT_NE(w.text("banner").find("changed"), std::string::npos) << w.text("banner");
  ASSERT_TRUE(w.click("banner/file.reload"));
  EXPECT_EQ(w.decision(), at);
  EXPECT_EQ(w.shot().breakpoints->size(), 1u);
  EXPECT_NE(w.shot().program->text().find("a comment more"), std::string_view::npos);
  EXPECT_FALSE(w.has("banner"));
  std::filesystem::remove(path);
}

TEST(Robust, AProgramWithErrorsIsEditedAndRuns) {
  const std::string path =
      write_file("typo.hir",
                 "kernel @k() -> (%v: tensor<4xf32>) {\n"
                 "  %v = constnt {value = 1} : tensor<4xf32>\n  return %v\n}\n");
  Workbench w(path);
  EXPECT_NE(w.text("error/text").find("constnt"), std::string::npos);
  ASSERT_TRUE(w.click("error/edit"));
  EXPECT_TRUE(w.has("editor/text"));
  EXPECT_NE(w.text("editor/diagnostics").find("constnt"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Robust, ASmallWindow) {
  Workbench w(kMlp, 640, 400);
  EXPECT_TRUE(w.has("toolbar/next"));
  EXPECT_TRUE(w.has("toolbar/more")) << "buttons that do not fit are in a menu";
  ASSERT_TRUE(w.press("F10"));
  EXPECT_GT(w.decision(), 0u);
  // Shows two panels side by side instead of ten unreadable ones; every panel can be brought there.
  w.perform("panel.layout");
  const WidgetRect* picture = w->app().ui().find("layout/tensor");
  ASSERT_TRUE(picture);
  EXPECT_LT(picture->max.x, 640);
  w.perform("panel.ranks");
  EXPECT_TRUE(w.has("ranks/1/state"));
  for (const auto& panel : make_panels()) w.only(std::string(panel->id()));
  w->resize(1600, 1000);
  ASSERT_TRUE(w->wait_until_idle(30));
  EXPECT_TRUE(w.has("timeline") && w.has("layout/tensor") && w.has("ranks/1/state"))
      << "the large window's own arrangement is back";
  w->resize(200, 150);
  EXPECT_TRUE(w->wait_until_idle(30));
}

TEST(Robust, AThousandRanks) {
  const std::string path =
      write_file("thousand.hir",
                 "mesh @m = <x=1000>\n"
                 "kernel @ones() -> (%v: tensor<4xf32>) {\n"
                 "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
                 "host @f on @m () -> (%a: shard<4xf32, @m, [{}], unreduced={x}>) {\n"
                 "  %s = stream \"main\"\n"
                 "  %a = alloc on %s : shard<4xf32, @m, [{}], unreduced={x}>\n"
                 "  launch @ones wo(%a) on %s\n  return %a\n}\n");
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_EQ(w.shot().rank_count(), 1000);
  EXPECT_NE(w.text("focus/more").find("more"), std::string::npos);
  w.perform("continue");
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
  for (const auto& panel : make_panels()) {
    w.only(std::string(panel->id()));
    EXPECT_LE(w->vertex_count(), 60000) << panel->id();
  }
  w.only("ranks");
  EXPECT_NE(w.text("ranks/1/group").find("r999"), std::string::npos) << w.text("ranks/1/group");
  w.perform("rank 500");
  EXPECT_TRUE(w.has("ranks/500/state")) << "the focus stands alone";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hostir::gui
