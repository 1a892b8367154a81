// The panels that read the log: timeline, events, SQL, memory.
#include <gtest/gtest.h>

#include "interp/session/event_filter.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Timeline, AClickSelectsTheEventItsRankAndItsCollective) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("timeline");
  ASSERT_TRUE(w.fill("timeline/find", "all_reduce", ""));
  ASSERT_TRUE(w.click("timeline/next"));
  EXPECT_GE(w.model().selection.event, 0);
  EXPECT_TRUE(w.model().selection.rank.has_value());
  EXPECT_TRUE(w.model().selection.collective.has_value());
  EXPECT_NE(w.text("timeline/collective").find("arrived"), std::string::npos);
  EXPECT_NE(w.text("timeline/status").find("match"), std::string::npos);
}

TEST(Timeline, WhatIsFoundNowhereIsSaid) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  w.fill("timeline/find", "nowhere", "");
  EXPECT_EQ(w.text("timeline/status"), "nothing is called \"nowhere\"");
}

TEST(Timeline, FoldingARankHidesItsHostLane) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  ASSERT_TRUE(w.has("timeline/lane/r0/host"));
  ASSERT_TRUE(w.click("timeline/fold/r0"));
  EXPECT_FALSE(w.has("timeline/lane/r0/host"));
  EXPECT_TRUE(w.has("timeline/lane/r1/host"));
  ASSERT_TRUE(w.click("timeline/fold/r0"));
  EXPECT_TRUE(w.has("timeline/lane/r0/host"));
}

TEST(Timeline, StaysWithinItsVerticesAtAnyZoom) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  for (int zoom = 0; zoom < 8; ++zoom) {
    EXPECT_LE(w->vertex_count(), 60000);
    ASSERT_TRUE(w->scroll("timeline", 4));
    w->settle(30);
  }
}

TEST(Events, TheFilterNarrowsAndItsErrorsAreShown) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("events");
  const std::string all = w.text("events/count");
  ASSERT_TRUE(w.fill("events/filter", "op=all_reduce rank=0", ""));
  w->settle(30);
  EXPECT_NE(w.text("events/count"), all);
  ASSERT_TRUE(w.click("events/0"));
  EXPECT_GE(w.model().selection.event, 0);
  EXPECT_EQ(w.model().selection.rank, 0);
  ASSERT_TRUE(w.fill("events/filter", "rank=none", ""));
  w->settle(30);
  EXPECT_NE(w.text("events/error").find("rank=3"), std::string::npos);
}

TEST(Events, WordsMeanWhatTheHelpSays) {
  Workbench w(kMlp);
  w.press("F5");
  // A panel's own fetch is not needed here: the language is a function of the log.
  bool asked = false;
  w.model().worker().ask_log("test", [&](const interp::LogView& log, std::stop_token stop) {
    const auto all = log.events({}, stop);
    const auto count = [&](const std::string& text) {
      const auto query = interp::parse_event_filter(text, log);
      EXPECT_TRUE(query) << text;
      int64_t n = 0;
      for (const interp::LogEvent& e : *all) n += query && query->holds(e) ? 1 : 0;
      return n;
    };
    const auto total = static_cast<int64_t>(all->size());
    EXPECT_EQ(count(""), total);
    EXPECT_EQ(count("rank=0") + count("-rank=0"), total);
    EXPECT_EQ(count("class=comm") + count("class=host"), total);
    EXPECT_EQ(count("id>=3"), total - 3);
    EXPECT_EQ(count("id<3"), 3);
    EXPECT_EQ(count("rank=0..100"), total);
    EXPECT_EQ(count("op=all_reduce"), count("all_reduce"));
    EXPECT_GT(count("bytes>=1"), 0);
    EXPECT_EQ(count("bytes>1G"), 0);
    for (const char* wrong : {"rank=", "rank=a", "op=nothing", "at=@f#999", "stream=x", "bytes>",
                              "bytes>x", "colour=red", "name>3", "class=x"})
      EXPECT_FALSE(interp::parse_event_filter(wrong, log)) << wrong;
    return std::function<void()>([&] { asked = true; });
  });
  w->settle(30);
  EXPECT_TRUE(asked);
}

TEST(Sql, AnErrorIsShownAndRowsSelectEvents) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("sql");
  ASSERT_TRUE(w.fill("sql/text", "select nonsense", ""));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_NE(w.text("sql/error").find("nonsense"), std::string::npos);
  ASSERT_TRUE(w.fill("sql/text", "select id as event, rank from event limit 5", ""));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_EQ(w.text("sql/count"), "5 rows");
  ASSERT_TRUE(w.click("sql/2/0"));
  EXPECT_EQ(w.model().selection.event, 2);
}

TEST(Memory, ThePeakOfARankSelectsItsAlloc) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("memory");
  ASSERT_TRUE(w.has("memory/peak/1"));
  ASSERT_TRUE(w.click("memory/peak/1"));
  EXPECT_GE(w.model().selection.event, 0);
  EXPECT_EQ(w.shot().focus, 1);
}

}  // namespace
}  // namespace hostir::gui
