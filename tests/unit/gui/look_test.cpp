// Looking at a run: values, history, events, SQL, the text of the program, layouts of the window.
#include <filesystem>
#include <fstream>

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
  w->type("nonsense ");
  w->settle();
  EXPECT_EQ(w.text("editor/state"), "changed");
  EXPECT_NE(w.text("editor/diagnostics").find("nonsense"), std::string::npos);
  w->press("Ctrl+Z");
  w->press("Esc");
  w->settle();
  ASSERT_TRUE(w.model().snapshot());
  EXPECT_EQ(w.decision(), before);
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
