// Draws every panel over every program: at the start, in the middle, at the end and stepping back,
// without ImGui stack errors, and with visible contents.
#include "gui/panels/panels.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

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

/// The hint shown by the panel, entirely inside it; empty if it shows something else.
std::string shown_hint(Workbench& w, const std::string& id) {
  const WidgetRect* hint = w->app().ui().find("hint/" + id);
  const WidgetRect* leaf = w->app().ui().find("leaf/" + id);
  if (!hint) return {};
  EXPECT_TRUE(leaf) << id;
  if (!leaf) return {};
  EXPECT_TRUE(hint->min.x >= leaf->min.x && hint->max.x <= leaf->max.x &&
              hint->min.y >= leaf->min.y && hint->max.y <= leaf->max.y)
      << id << ": the hint is cut";
  const auto letters = std::count_if(hint->text.begin(), hint->text.end(),
                                     [](char c) { return c > ' ' && c <= '~'; });
  EXPECT_GT(letters, 30) << id;
  EXPECT_GE(w->vertex_count(id), 4 * letters) << id << ": letters are missing";
  return hint->text;
}

// An empty panel has about 120 vertices: its frame and its title.
constexpr int kMoreThanAFrame = 300;

// Panels that wait for the user, or for something that not every program has. All others have
// contents for every program that has run.
const std::set<std::string> kMayBeEmpty{"diff",   "explain", "history", "inside",
                                        "ledger", "notes",   "phases",  "sql",
                                        "values", "waits",   "watches", "whatif"};

enum class Moment : uint8_t { kBeforeTheRun, kAfterSteps };

void expect_contents(Workbench& w, const std::string& id, Moment moment) {
  const std::string hint = shown_hint(w, id);
  if (hint.empty()) {
    EXPECT_GT(w->vertex_count(id), kMoreThanAFrame) << id;
  } else if (moment == Moment::kAfterSteps) {
    EXPECT_TRUE(kMayBeEmpty.contains(id)) << id << " shows only its hint: " << hint;
  }
}

class EveryProgram : public testing::TestWithParam<std::string> {};

TEST_P(EveryProgram, EveryPanelIsDrawn) {
  Workbench w(GetParam());
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  const auto draw_all = [&](Moment moment, int frames) {
    for (const auto& panel : make_panels()) {
      const std::string id(panel->id());
      w->app().perform("panel." + id);
      w->step();
      w->app().tree().maximise(id);
      for (int i = 0; i < frames; ++i) w->step();
      w->wait_until_idle(30);  // answers from other threads have arrived
      expect_contents(w, id, moment);
      w->app().tree().maximise(std::nullopt);
    }
  };
  draw_all(Moment::kBeforeTheRun, 8);
  w.perform("until collective");
  draw_all(Moment::kAfterSteps, 8);
  w.perform("continue");
  draw_all(Moment::kAfterSteps, 8);
  w.perform("reverse-step");
  draw_all(Moment::kAfterSteps, 6);
}

INSTANTIATE_TEST_SUITE_P(Programs, EveryProgram, testing::ValuesIn(programs()),
                         [](const testing::TestParamInfo<std::string>& test) {
                           return std::filesystem::path(test.param).stem().string();
                         });

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Before the first step, every panel without data shows its hint.
TEST(Panels, SayWhatTheyAreForBeforeAnythingRan) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  std::set<std::string> empty;
  for (const auto& panel : make_panels()) {
    const std::string id(panel->id());
    w.only(id);
    const std::string hint = shown_hint(w, id);
    if (hint.empty()) continue;
    empty.insert(id);
    EXPECT_TRUE(mentions(hint, panel->hint())) << id << ": " << hint;
  }
  for (const char* id :
       {"diff", "events", "ledger", "notes", "schedule", "sql", "timeline", "waits", "watches"})
    EXPECT_TRUE(empty.contains(id)) << id;
}

// Without a session, behind a file with errors, every panel that needs one shows its hint.
TEST(Panels, SayWhatTheyAreForWithoutASession) {
  const std::string path = testing::TempDir() + "hostir_wrong.hir";
  std::ofstream(path) << "kernel @k() -> (%v: tensor<4xf32>) {\n"
                         "  %v = constnt {value = 1} : tensor<4xf32>\n  return %v\n}\n";
  Workbench w(path);
  ASSERT_FALSE(w.model().snapshot());
  ASSERT_TRUE(w.click("error/edit"));
  for (const auto& panel : make_panels()) {
    const std::string id(panel->id());
    w.only(id);
    expect_contents(w, id, Moment::kBeforeTheRun);
    if (!panel->needs_session()) continue;
    const std::string hint = shown_hint(w, id);
    EXPECT_TRUE(mentions(hint, panel->hint())) << id << ": " << hint;
    EXPECT_TRUE(mentions(hint, "Open a program or a log first")) << id << ": " << hint;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hostir::gui
