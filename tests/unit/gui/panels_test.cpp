// Every panel over every program: drawn at the start, in the middle, at the end and going back,
// without a fault of ImGui's stack, and saying something.
#include "gui/panels/panels.h"

#include <algorithm>
#include <filesystem>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::vector<std::string> programs() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("tests/programs")) {
    if (entry.path().extension() == ".hir") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class EveryProgram : public testing::TestWithParam<std::string> {};

TEST_P(EveryProgram, EveryPanelIsDrawn) {
  Workbench w(GetParam());
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  const auto draw_all = [&](int frames) {
    for (const auto& panel : make_panels()) {
      const std::string id(panel->id());
      w->app().perform("panel." + id);
      w->step();
      w->app().tree().maximise(id);
      for (int i = 0; i < frames; ++i) w->step();
      EXPECT_GT(w->vertex_count(id), 100) << id;
      w->app().tree().maximise(std::nullopt);
    }
  };
  draw_all(8);
  w.perform("until collective");
  draw_all(8);
  w.perform("continue");
  draw_all(8);
  w.perform("reverse-step");
  draw_all(6);
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram, testing::ValuesIn(programs()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           return std::filesystem::path(test.param).stem().string();
                         });

// Without a session, and with a file that could not be opened, panels say what they are for.
TEST(Panels, SayWhatTheyAreForWhenEmpty) {
  Workbench w("tests/programs/no_such_file.hir");
  EXPECT_FALSE(w.model().snapshot());
  for (const auto& panel : make_panels()) {
    EXPECT_GT(panel->hint().size(), 30u) << panel->id();
    w.only(std::string(panel->id()));
    EXPECT_GT(w->vertex_count(), 200) << panel->id();
  }
}

}  // namespace
}  // namespace hostir::gui
