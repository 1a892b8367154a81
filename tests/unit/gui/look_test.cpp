// Inspecting a run: values, history, events, SQL, the program text, window layouts.
#include <filesystem>
#include <fstream>

#include "hostir/io/files.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::string temporary(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

TEST(Look, AnElementIsSelectedAndItsWritesFollowed) {
  Workbench w(kMlp);
  w.press("F5");
  ASSERT_TRUE(w.has("layout/picture"));
  ASSERT_TRUE(w.click("layout/picture"));
  EXPECT_FALSE(w.model().selection.element.empty());
  EXPECT_FALSE(w.model().selection.value.empty());
  w.only("history");
  EXPECT_NE(w.text("history/what").find('['), std::string::npos) << w.text("history/what");
}

TEST(Look, SqlAnswersAndErrorsAreShown) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("sql");
  ASSERT_TRUE(w.fill("sql/text", "select count(*) as n from collective", ""));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_EQ(w.text("sql/count"), "1 row");
  ASSERT_TRUE(w.fill("sql/text", "select nonsense from nowhere", ""));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_NE(w.text("sql/error").find("nowhere"), std::string::npos);
}

TEST(Look, TheTextIsEditedToAnErrorAndBack) {
  Workbench w(kMlp);
  w.press("F6");
  const uint64_t before = w.decision();
  w.only("editor");
  ASSERT_TRUE(w.click("editor/text"));
  w->press("Ctrl+A");
  w->press("Home");
  const std::string nonsense = "nonsense ";
  w->type(nonsense);
  w->wait_until_idle();
  EXPECT_EQ(w.text("editor/state"), "changed");
  EXPECT_NE(w.text("editor/diagnostics").find("nonsense"), std::string::npos);
  for (size_t i = 0; i < nonsense.size(); ++i) w->press("Ctrl+Z");  // one letter each
  w->wait_until_idle();
  EXPECT_EQ(w.text("editor/state"), "as in the file");
  EXPECT_FALSE(w.has("editor/diagnostics")) << w.text("editor/diagnostics");
  ASSERT_TRUE(w.model().snapshot());
  EXPECT_EQ(w.decision(), before) << "the run stays where it was";
  EXPECT_EQ(w.shot().rank_count(), 2);
}

TEST(Look, AnEditedTextRunsAndTheFileStays) {
  Workbench w(kMlp);
  w.press("F6");
  const uint64_t before = w.decision();
  const auto file = io::read_file(kMlp);
  ASSERT_TRUE(file);
  std::string edited = *file;
  const std::string axis = "<tp=2>";
  edited.replace(edited.find(axis), axis.size(), "<tp=3>");
  w.only("editor");
  ASSERT_TRUE(w.fill("editor/text", edited, ""));
  EXPECT_EQ(w.text("editor/state"), "changed");
  EXPECT_FALSE(w.has("editor/diagnostics"));
  EXPECT_EQ(w.decision(), before);
  EXPECT_EQ(w.shot().rank_count(), 2) << "nothing is started by typing";
  ASSERT_TRUE(w.press("Ctrl+Enter"));
  EXPECT_EQ(w.shot().rank_count(), 3) << w.model().open_error();
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
  EXPECT_EQ(w.text("editor/state"), "changed") << "it runs, it is not saved";
  EXPECT_EQ(io::read_file(kMlp).value_or(""), *file);
  ASSERT_TRUE(w.click("editor/revert"));
  EXPECT_EQ(w.text("editor/state"), "as in the file");
}

TEST(Look, ALayoutIsRestored) {
  const std::string settings = temporary("hostir_layout.conf");
  std::filesystem::remove(settings);
  {
    Workbench w(kMlp, 1600, 1000, settings);
    w.perform("layout.Deadlock");
    w.perform("view.theme");
    EXPECT_FALSE(w.has("tab/timeline"));
  }
  Workbench w(kMlp, 1600, 1000, settings);
  EXPECT_FALSE(w.has("tab/timeline"));
  EXPECT_TRUE(w.has("tab/waits"));
  EXPECT_EQ(w->app().ui().pal().kind, ThemeKind::kLight);
  w.perform("layout.Step");
  EXPECT_TRUE(w.has("tab/timeline"));
  std::filesystem::remove(settings);
}

}  // namespace
}  // namespace hostir::gui
