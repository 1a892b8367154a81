// Comparing two runs in the window: kept and opened runs, numbers, first divergence, pictures.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "gui/panels/diff/diff_heat.h"
#include "gui/panels/diff/diff_table.h"
#include "tests/unit/gui/two_runs.h"

namespace hostir::gui {
namespace {

// The inputs that the window generates for tp_mlp.hir, except for the last one.
std::vector<std::pair<std::string, std::string>> other_bias() {
  return {{"x", "normal(1, 1x6x8xf32)"},
          {"w1", "normal(2, 10x8xf32)"},
          {"b1", "normal(3, 10xf32)"},
          {"w2", "normal(4, 8x10xf32)"},
          {"b2", "normal(99, 8xf32)"}};
}

TEST(Diff, EqualRunsAreSaidToBeEqual) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_equal.db", kMlp, "fast"));
  EXPECT_FALSE(w.has("diff/error"));
  EXPECT_EQ(w.text("diff/result"), "All 8 writes have equal bits.");
  EXPECT_FALSE(w.has("diff/0")) << "only what differs is listed";
  ASSERT_TRUE(w.click("diff/only"));
  EXPECT_NE(w.text("diff/0").find("equal bits"), std::string::npos);
}

TEST(Diff, OtherKernelsGiveNumbersAndAHarmlessCause) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_kernels.db", kMlp, "reference"));
  EXPECT_NE(w.text("diff/fact/0").find("Kernels: reference in A, fast in B."), std::string::npos)
      << w.text("diff/fact/0");
  const std::string result = w.text("diff/result");
  EXPECT_NE(result.find("%g on rank 0, @mlp.host#5"), std::string::npos) << result;
  EXPECT_NE(result.find("ulp"), std::string::npos) << "measured unasked: " << result;
  ASSERT_TRUE(w.press("Ctrl+F8"));
  EXPECT_EQ(w.model().selection.value, "g");
  EXPECT_EQ(w.model().selection.element.size(), 3u);
  EXPECT_NE(w.text("diff/numbers").find("of 30 elements"), std::string::npos)
      << w.text("diff/numbers");
  EXPECT_NE(w.text("diff/innocent").find("the kernels"), std::string::npos);
  EXPECT_NE(w.text("diff/source").find("arises here"), std::string::npos) << w.text("diff/source");
  EXPECT_TRUE(w.has("diff/heat/a"));
  EXPECT_TRUE(w.has("diff/heat/difference"));
}

TEST(Diff, OtherInputsAreTheCauseAndDivergencesFollowEachOther) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_input.db", kMlp, "fast", "stats", other_bias()));
  EXPECT_NE(w.text("diff/fact/0").find("Input %b2"), std::string::npos) << w.text("diff/fact/0");
  EXPECT_NE(w.text("diff/result").find("First divergence: %y on rank"), std::string::npos)
      << w.text("diff/result");
  ASSERT_TRUE(w.press("Ctrl+F8"));
  const auto first = w.model().comparison().selected();
  ASSERT_TRUE(first);
  EXPECT_EQ(w.text("diff/source"), "It reads %b2, which differs between the runs.");
  ASSERT_TRUE(w.press("Ctrl+F8"));
  EXPECT_NE(w.model().comparison().selected(), first);
  EXPECT_EQ(w.model().comparison().view()->different(), 2);
}

TEST(Diff, AnEditOfTheKeptRunIsListedAndFollowed) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("diff");
  ASSERT_TRUE(w.click("diff/keep"));
  EXPECT_EQ(w.text("diff/result"), "All 8 writes have equal bits.");
  ASSERT_TRUE(w.perform("goto 5"));
  ASSERT_TRUE(w.perform("set %x[0, 0, 0] = 7"));
  ASSERT_TRUE(w.perform("continue"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("diff/fact/0"), "In B %x was set by hand on ranks 0, 1, after 5 decisions.");
  EXPECT_NE(w.text("diff/result").find("First divergence: %g on rank"), std::string::npos)
      << w.text("diff/result");
  ASSERT_TRUE(w.press("Ctrl+F8"));
  EXPECT_EQ(w.text("diff/source"), "It reads %x, which differs between the runs.");
  // Both branches of the history can still be run, so the numbers are available.
  EXPECT_NE(w.text("diff/numbers").find("of 30 elements"), std::string::npos)
      << w.text("diff/numbers") << w.text("diff/measure_error");
}

TEST(Diff, WhatHasNotRunYetIsNotADifference) {
  Workbench w(kMlp);
  compare_with(w, log_of("diff_start.db", kMlp, "fast"));
  EXPECT_NE(w.text("diff/result").find("No write has occurred in both runs yet"),
            std::string::npos);
  EXPECT_EQ(w.model().comparison().view()->different(), 0);
  w.press("F5");
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("diff/result"), "All 8 writes have equal bits.");
}

TEST(Diff, OtherProgramsAndWhatIsNotALogAreSaid) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_other.db", "tests/programs/simple_add.hir", "fast"));
  EXPECT_NE(w.text("diff/fact/0").find("A runs @"), std::string::npos) << w.text("diff/fact/0");
  EXPECT_NE(w.text("diff/counts").find("only in B"), std::string::npos);
  compare_with(w, kMlp);
  EXPECT_NE(w.text("diff/error").find("is not a log"), std::string::npos);
  compare_with(w, "no/such/file.db");
  EXPECT_NE(w.text("diff/error"), "");
  const std::string noise = testing::TempDir() + "diff_noise.db";
  std::ofstream(noise) << "SQLite format 3" << std::string(3000, 'x');
  compare_with(w, noise);
  EXPECT_NE(w.text("diff/error"), "");
  ASSERT_TRUE(w.click("diff/close"));
  EXPECT_FALSE(w.has("diff/error"));
}

TEST(Diff, TheStripLeadsToTheWriteAndPicturesSwap) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_strip.db", kMlp, "fast", "stats", other_bias()));
  const DiffView& view = *w.model().comparison().view();
  ASSERT_EQ(view.strip.size(), 2u);
  std::string red;
  for (int c = 0; c < view.columns && red.empty(); ++c) {
    const std::string name = fmt::format("diff/strip/1/{}", c);
    if (w.has(name) && w.text(name) == "over tolerance") red = name;
  }
  ASSERT_NE(red, "");
  ASSERT_TRUE(w.click(red));
  ASSERT_TRUE(w.model().comparison().selected());
  EXPECT_EQ(w.model().selection.rank, 1);
  EXPECT_EQ(w.model().selection.value, "y");
  EXPECT_EQ(w.text("diff/heat/a").substr(0, 2), "A:");
  ASSERT_TRUE(w->hover("diff/heat/difference"));
  w->wait_until_idle(30);
  EXPECT_NE(w.text("diff/element").find("ulp"), std::string::npos) << w.text("diff/element");
  ASSERT_TRUE(w.press("X"));
  EXPECT_EQ(w.text("diff/swap"), "swapped");
}

TEST(Diff, StepsKeepTheSelectedWriteAndOtherFilesAreComparedToo) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_keep.db", kMlp, "reference"));
  ASSERT_TRUE(w.press("Ctrl+F8"));
  const std::string selected = w.text("diff/selected");
  ASSERT_NE(selected, "");
  ASSERT_TRUE(w.perform("goto 5"));
  ASSERT_TRUE(w.perform("set %x[0, 0, 0] = 7"));
  ASSERT_TRUE(w.perform("continue"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("diff/selected"), selected);
  w->app().drop_file(testing::TempDir() + "diff_keep.db");
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("diff/result"), "All 8 writes have equal bits.") << "B is the log itself now";
}

TEST(Diff, ItCanBeCalledOffAndBegunAgain) {
  Workbench w(kMlp);
  w.press("F5");
  const std::string path = log_of("diff_cancel.db", kMlp, "reference");
  w.only("diff");
  w.model().comparison().open(path);
  w.model().comparison().cancel();
  w->wait_until_idle(30);
  EXPECT_NE(w.text("diff/error").find("cancelled"), std::string::npos);
  compare_with(w, path);
  EXPECT_NE(w.text("diff/result"), "");
  ASSERT_TRUE(w.click("diff/recent"));
  ASSERT_TRUE(w.click("diff/recent/diff_cancel.db"));
  EXPECT_NE(w.text("diff/result"), "");
}

TEST(Diff, LimitsJudgeAgainWithoutMeasuringAgain) {
  Workbench w(kMlp);
  w.press("F5");
  compare_with(w, log_of("diff_limits.db", kMlp, "reference"));
  const int64_t over = w.model().comparison().view()->count(interp::WriteOutcome::kWithinUlp);
  w.model().comparison().set_limits({.ulp = 1000000, .relative = 0});
  w->wait_until_idle(30);
  const DiffView& view = *w.model().comparison().view();
  EXPECT_FALSE(view.first);
  EXPECT_TRUE(view.first_other_bits);
  EXPECT_GE(view.count(interp::WriteOutcome::kWithinUlp), over);
  EXPECT_NE(w.text("diff/result").find("Within limits"), std::string::npos);
}

TEST(Diff, AMillionWritesAreShownAtOnce) {
  auto diff = std::make_shared<interp::RunDiff>();
  auto writes = std::make_shared<interp::RunWrites>();
  constexpr uint32_t kMany = 1000000;
  writes->writes.resize(kMany);
  for (uint32_t i = 0; i < kMany; ++i) writes->writes[i].rank = static_cast<int>(i % 1000);
  diff->a.writes = diff->b.writes = writes;
  diff->rows.resize(kMany);
  for (uint32_t i = 0; i < kMany; ++i) diff->rows[i] = {i, i, interp::WriteOutcome::kEqual};
  diff->rows[777777].outcome = interp::WriteOutcome::kOnlyB;
  const DiffView view = make_diff_view(diff, std::make_shared<DiffNumbers>(), {}, true);
  EXPECT_EQ(view.first, 777777u);
  EXPECT_EQ(view.shown.size(), 1u);
  EXPECT_LE(view.strip.size(), static_cast<size_t>(kStripLines));
  EXPECT_EQ(view.next_divergent(777777), 777777u);
}

TEST(Diff, NaNAndInfStandInTheTableAsWhatTheyAre) {
  interp::WriteDifference d;
  d.max_ulp = uint64_t{1} << 63;
  EXPECT_EQ(diff_ulp_text(d), "> 9e18");
  d.max_ulp = 3;
  EXPECT_EQ(diff_ulp_text(d), "3");
  d.not_finite = 1;
  EXPECT_EQ(diff_ulp_text(d), "Inf differs");
  d.nan_in_one = 1;
  EXPECT_EQ(diff_ulp_text(d), "NaN in one");
}

TEST(DiffHeat, LargeIntegersDifferWhereTheirDoublesDoNot) {
  auto contents = std::make_shared<DiffContents>();
  contents->a = Tensor::zeros(DType::kI64, {4});
  contents->b = contents->a;
  contents->box = Box::whole({4});
  contents->a.set_int(2, (int64_t{1} << 60) + 1);
  contents->b.set_int(2, int64_t{1} << 60);
  EXPECT_EQ(describe_element(*contents, 2).find("equal"), std::string::npos);
  EXPECT_NE(describe_element(*contents, 2).find("|a - b| = 1"), std::string::npos)
      << describe_element(*contents, 2);
  const DiffHeat heat = make_diff_heat(contents, {});
  EXPECT_EQ(heat.largest, 1);
  EXPECT_EQ(heat.cells[2].difference, -1);
  EXPECT_EQ(describe_pointed(*contents, -1), "no element differs") << "nothing was measured";
}

TEST(DiffHeat, ItEndsWhenItIsCalledOff) {
  auto contents = std::make_shared<DiffContents>();
  contents->a = Tensor::zeros(DType::kF32, {8, 8});
  contents->b = contents->a;
  contents->box = Box::whole({8, 8});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(make_diff_heat(contents, {}, stop.get_token()).cells.front().index, -1);
}

TEST(DiffHeat, ACellShowsTheElementThatDiffersMost) {
  auto contents = std::make_shared<DiffContents>();
  contents->a = Tensor::zeros(DType::kF32, {400, 300});
  contents->b = contents->a;
  contents->box = Box::whole({400, 300});
  contents->b.set_double(150 * 300 + 77, 3);
  contents->b.set_double(150 * 300 + 78, 1);
  const DiffHeat heat = make_diff_heat(contents, {});
  EXPECT_EQ(heat.cell_rows, kHeatSide);
  EXPECT_EQ(heat.largest, 3);
  const auto found = std::find_if(heat.cells.begin(), heat.cells.end(),
                                  [](const HeatCell& c) { return c.index == 150 * 300 + 77; });
  ASSERT_NE(found, heat.cells.end());
  EXPECT_EQ(found->b, 3);
  EXPECT_NE(describe_element(*contents, found->index).find("[150, 77]: 0 in A, 3 in B"),
            std::string::npos);
  const DiffHeat near = make_diff_heat(contents, {150, 152, 76, 80});
  EXPECT_EQ(near.cells.size(), 8u);
  EXPECT_EQ(near.cells[1].index, 150 * 300 + 77);
}

}  // namespace
}  // namespace hostir::gui
