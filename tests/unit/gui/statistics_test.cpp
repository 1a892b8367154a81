// The panel Statistics, and flows between ranks in the timeline.
#include <gtest/gtest.h>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Statistics, SaysHowOftenAndHowLongEachInstructionRan) {
  Workbench w(kMlp);
  w.only("statistics");
  EXPECT_TRUE(w.has("hint/statistics"));
  ASSERT_TRUE(w.press("F5"));
  EXPECT_TRUE(says(w.text("statistics/state"), "lanes"));
  ASSERT_TRUE(w.has("statistics/0"));
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    const auto most = log.query(
        "select count(*), sum(finish_ns - start_ns) as t from event where stream is not null "
        "group by instruction order by t desc limit 1",
        1, stop);
    ASSERT_TRUE(most);
    EXPECT_EQ(w.text("statistics/0/times"), std::to_string(std::get<int64_t>(most->rows[0][0])));
  });
  // A click selects the instruction everywhere and shows its histogram.
  EXPECT_FALSE(w.has("statistics/histogram"));
  ASSERT_TRUE(w.click("statistics/0"));
  EXPECT_TRUE(w.model().selection.code.has_value());
  EXPECT_TRUE(says(w.text("statistics/histogram"), "bins"));
  ASSERT_TRUE(w.click("statistics/longest"));
  EXPECT_GE(w.model().selection.event, 0);
}

TEST(Statistics, FilterRankAndSideNarrow) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("statistics");
  const int of_all = std::stoi(w.text("statistics/0/times"));
  ASSERT_TRUE(w.click("statistics/ranks"));
  EXPECT_EQ(std::stoi(w.text("statistics/0/times")) * w.shot().rank_count(), of_all);
  ASSERT_TRUE(w.fill("statistics/filter", "all_reduce", ""));
  EXPECT_EQ(w.text("statistics/count"), "1");
  EXPECT_TRUE(says(w.text("statistics/0"), "all_reduce"));
  ASSERT_TRUE(w.fill("statistics/filter", "nowhere", ""));
  EXPECT_EQ(w.text("statistics/count"), "0");
  ASSERT_TRUE(w.fill("statistics/filter", "return", ""));
  EXPECT_EQ(w.text("statistics/count"), "0") << "streams do not return";
  ASSERT_TRUE(w.click("statistics/side"));
  EXPECT_EQ(w.text("statistics/count"), "1");
}

TEST(Statistics, HeadersSort) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("statistics");
  ASSERT_TRUE(w.click("statistics/by/instruction"));
  const std::string last = w.text("statistics/0");
  ASSERT_TRUE(w.click("statistics/by/instruction"));
  EXPECT_NE(w.text("statistics/0"), last);
}

TEST(Flows, AMessageHasAnArrowFromItsSendToItsRecv) {
  Workbench w("tests/programs/pipeline.hir", 1600, 1000, "", "pipeline");
  ASSERT_TRUE(w.press("F5"));
  w.only("timeline");
  ASSERT_TRUE(w.has("timeline/arrows"));
  EXPECT_GE(std::stoi(w.text("timeline/arrows")), 1);
  ASSERT_TRUE(w.click("timeline/flows"));
  EXPECT_FALSE(w.has("timeline/arrows"));
}

}  // namespace
}  // namespace hostir::gui
