// Comparisons while the runs, the selection or the panel change during a query.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/unit/gui/two_runs.h"

namespace hostir::gui {
namespace {

// Blocks the thread for short queries until released.
class QuickThreadHeld {
 public:
  explicit QuickThreadHeld(Comparison& comparison) {
    comparison.ask_quick("held", [free = free_](std::stop_token) -> std::function<void()> {
      while (!*free) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return {};
    });
  }
  ~QuickThreadHeld() { let_go(); }
  void let_go() { *free_ = true; }

 private:
  // Shared: the thread may check it again after the test ends.
  std::shared_ptr<std::atomic<bool>> free_ = std::make_shared<std::atomic<bool>>(false);
};

// Draws frames until `done`.
template <class Done>
bool step_until(Workbench& w, const Done& done) {
  for (int i = 0; i < 5000 && !done(); ++i) {
    w->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done();
}

// Takes another branch of the history and compares it; the view still shows the old comparison.
bool compare_edited(Workbench& w, const interp::RunDiff* before) {
  w->app().perform("goto 5");
  w->app().perform("set %x[0, 0, 0] = 7");
  w->app().perform("continue");
  Comparison& comparison = w.model().comparison();
  return step_until(w, [&] {
    return comparison.newest() != before && !w.model().worker().busy() &&
           comparison.doing().empty();
  });
}

TEST(Comparison, RowsOfTheOldViewAreNotLookedForInTheNewComparison) {
  Workbench w(kMlp);
  w.press("F5");
  const std::string other = log_of("diff_small.db", "tests/programs/simple_add.hir", "fast");
  compare_with(w, other);
  Comparison& comparison = w.model().comparison();
  const auto rows = static_cast<uint32_t>(comparison.view()->outcomes.size());
  comparison.go_to(w.model(), rows - 1);
  w->wait_until_idle(30);
  QuickThreadHeld held(comparison);
  const interp::RunDiff* before = comparison.newest();
  w->app().drop_file(other);
  ASSERT_TRUE(step_until(w, [&] {
    return comparison.newest() != before && !w.model().worker().busy() &&
           comparison.doing().empty();
  }));
  ASSERT_LT(comparison.newest()->rows.size(), rows);
  ASSERT_EQ(comparison.view()->outcomes.size(), rows) << "still the old one";
  comparison.ask_contents();
  EXPECT_EQ(comparison.doing(), "");
  held.let_go();
  w->wait_until_idle(30);
  EXPECT_EQ(comparison.view()->outcomes.size(), comparison.newest()->rows.size());
}

TEST(Comparison, SourcesOfAnOldComparisonAreNotShown) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_sources.db", kMlp, "reference"));
  Comparison& comparison = w.model().comparison();
  ASSERT_TRUE(comparison.view()->first_other_bits);
  {
    QuickThreadHeld held(comparison);
    comparison.go_to(w.model(), *comparison.view()->first_other_bits);
    for (int i = 0; i < 5; ++i) w->step();  // its sources are requested and wait
    ASSERT_FALSE(comparison.sources());
    ASSERT_TRUE(compare_edited(w, comparison.newest()));
  }
  w->wait_until_idle(30);
  EXPECT_NE(w.text("diff/selected").find("%g on rank 0"), std::string::npos);
  EXPECT_EQ(w.text("diff/source"), "It reads %x, which differs between the runs.");
}

TEST(Comparison, TheSelectionOfNowSurvivesANewView) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_selection.db", kMlp, "reference"));
  Comparison& comparison = w.model().comparison();
  comparison.go_to(w.model(), 0);
  w->wait_until_idle(30);
  const auto last = static_cast<uint32_t>(comparison.view()->outcomes.size()) - 1;
  const std::string wanted = comparison.view()->diff->place(comparison.view()->diff->rows[last]);
  {
    QuickThreadHeld held(comparison);
    ASSERT_TRUE(compare_edited(w, comparison.newest()));
    for (int i = 0; i < 5; ++i) w->step();  // the new view is requested
    comparison.go_to(w.model(), last);
  }
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("diff/selected"), wanted);
}

TEST(Comparison, CancelLeavesThePicturesAndErrorsCanBeRepeated) {
  Workbench w(kMlp);
  w.press("F5");
  const std::string path = log_of("diff_repeat.db", kMlp, "reference");
  compare_with(w, path);
  Comparison& comparison = w.model().comparison();
  {
    QuickThreadHeld held(comparison);
    comparison.go_to(w.model(), *comparison.view()->first_other_bits);
    ASSERT_TRUE(step_until(w, [&] { return comparison.contents() != nullptr; }));
    for (int i = 0; i < 5; ++i) w->step();  // the picture is requested
    ASSERT_FALSE(w.has("diff/heat/a"));
    comparison.cancel();
  }
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has("diff/heat/a")) << "nobody asks for it again";
  comparison.open(path);
  comparison.cancel();
  w->wait_until_idle(30);
  EXPECT_NE(w.text("diff/error").find("cancelled"), std::string::npos);
  ASSERT_TRUE(w.click("diff/again"));
  EXPECT_FALSE(w.has("diff/error"));
  EXPECT_NE(w.text("diff/result").find("%g on rank 0"), std::string::npos) << w.text("diff/result");
}

TEST(Comparison, NothingIsComparedWhileNobodyLooks) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_hidden.db", kMlp, "fast"));
  const interp::RunDiff* before = w.model().comparison().newest();
  ASSERT_TRUE(before);
  w.only("messages");
  ASSERT_TRUE(w.perform("goto 5"));
  ASSERT_TRUE(w.perform("set %x[0, 0, 0] = 7"));
  ASSERT_TRUE(w.perform("continue"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.model().comparison().newest(), before);
  w.model().comparison().next_divergence(w.model());
  EXPECT_FALSE(w.model().comparison().selected()) << "what is known is of an older run";
  w.only("diff");
  w->wait_until_idle(30);
  EXPECT_NE(w.text("diff/result").find("First divergence: %g on rank"), std::string::npos)
      << w.text("diff/result");
  EXPECT_NE(w.text("diff/selected").find("%g on rank"), std::string::npos);
}

}  // namespace
}  // namespace hostir::gui
