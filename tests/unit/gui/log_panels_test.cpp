// The panels that read the log: timeline, events, SQL, memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "interp/session/expressions/event_filter.h"
#include "tests/unit/gui/workbench.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/traces/synthetic_run.h"
#include "traces/writer/trace_writer.h"

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
  EXPECT_EQ(w.text("timeline/status"), "no instruction matches \"nowhere\"");
}

TEST(Timeline, LanesStayWhileOneTypes) {
  for (const int width : {1280, 1000, 700}) {
    Workbench w(kMlp, width, 720);
    w.press("F5");
    w.only("timeline");
    const float before = w->app().ui().find("timeline/lane/r0/host")->min.y;
    w.fill("timeline/find", "a name that is nowhere in this program at all", "");
    EXPECT_EQ(w->app().ui().find("timeline/lane/r0/host")->min.y, before) << width;
  }
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

/// A log of a long run, built like the benchmarks' `log_generator`.
void write_long_log(const std::string& path, int64_t events, interp::Rank ranks) {
  auto writer = traces::TraceWriter::create(path, traces::testing::synthetic_description(ranks));
  ASSERT_TRUE(writer) << writer.error().message();
  traces::testing::SyntheticRun run(**writer, ranks);
  run.iterate(events / (int64_t{4} * ranks));
  const auto closed = (*writer)->close();
  ASSERT_TRUE(closed) << closed.error().message();
  ASSERT_EQ(closed->events, events);
}

TEST(Timeline, StaysWithinItsVerticesAtAnyZoom) {
  const ScratchDirectory folder;
  const std::string path = folder.file("long.db");
  constexpr int64_t kEvents = 160000;
  write_long_log(path, kEvents, 16);
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  w.only("timeline");
  for (const char* axis : {"time", "steps"}) {
    ASSERT_EQ(w.text("timeline/axis"), axis);
    ASSERT_TRUE(w.click("timeline/fit"));
    int most = 0;
    for (int zoom = 0; zoom < 12; ++zoom) {  // from all events down to a few
      most = std::max(most, w->vertex_count());
      EXPECT_LE(w->vertex_count(), 60000) << axis << " " << zoom;
      ASSERT_TRUE(w->scroll("timeline", 4));
      w->wait_until_idle(30);
    }
    EXPECT_GT(most, 10000) << axis << ": there was much to draw";
    ASSERT_TRUE(w.click("timeline/axis"));
  }
}

// The events of a page take the whole width, below the line that counts them.
TEST(Events, APageTakesTheWholeWidth) {
  const ScratchDirectory folder;
  const std::string path = folder.file("pages.db");
  write_long_log(path, 160000, 16);
  Workbench w(path);
  w.only("events");
  const auto check = [&](const char* page) {
    const WidgetRect* count = w->app().ui().find("events/count");
    const WidgetRect* row = w->app().ui().find("events/0");
    ASSERT_TRUE(count && row) << page;
    EXPECT_GT(row->min.y, count->max.y) << page;
    EXPECT_NEAR(row->min.x, count->min.x, 10) << page;
  };
  check("first");
  EXPECT_FALSE(w.has("events/earlier"));
  ASSERT_TRUE(w.click("events/later"));
  check("last");
  EXPECT_FALSE(w.has("events/later"));
  ASSERT_TRUE(w.click("events/earlier"));
}

TEST(Events, TheFilterNarrowsAndItsErrorsAreShown) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("events");
  const std::string all = w.text("events/count");
  ASSERT_TRUE(w.fill("events/filter", "op=all_reduce rank=0", ""));
  w->wait_until_idle(30);
  EXPECT_NE(w.text("events/count"), all);
  ASSERT_TRUE(w.click("events/0"));
  EXPECT_GE(w.model().selection.event, 0);
  EXPECT_EQ(w.model().selection.rank, 0);
  ASSERT_TRUE(w.fill("events/filter", "rank=none", ""));
  w->wait_until_idle(30);
  EXPECT_NE(w.text("events/error").find("rank=3"), std::string::npos);
}

TEST(Events, WordsMeanWhatTheHelpSays) {
  Workbench w(kMlp);
  w.press("F5");
  // No panel needed: the filter language depends only on the log.
  bool asked = false;
  w.model().worker().query_log("test", [&](const interp::LogView& log, std::stop_token stop) {
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
    EXPECT_GT(count("%y"), 0);
    EXPECT_LT(count("%y"), count("text =~ \"*%y*\"")) << "not what has only %y_product";
    EXPECT_EQ(count("%y_prod"), count("%y_product")) << "nothing has the name %y_prod";
    EXPECT_GT(count("bytes>=1"), 0);
    EXPECT_EQ(count("bytes>1G"), 0);
    EXPECT_EQ(count("rank == 0"), count("rank=0"));
    EXPECT_EQ(count("op =~ \"all_*\" && !(rank in {1..7})"), count("op=all_reduce rank=0"));
    EXPECT_EQ(count("dur > 5us || dur <= 5us"), total) << "every duration is known";
    for (const char* wrong : {"rank=", "rank=a", "op=nothing", "at=@f#999", "stream=x", "bytes>",
                              "bytes>x", "colour=red", "name>3", "class=x", "colour == red",
                              "rank == zero", "%y == 1", "rank in {0"})
      EXPECT_FALSE(interp::parse_event_filter(wrong, log)) << wrong;
    return std::function<void()>([&] { asked = true; });
  });
  w->wait_until_idle(30);
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

TEST(Sql, CtrlEnterRunsWhatIsTypedAndEnterBeginsALine) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("sql");
  const std::string first = "select id from event limit 3";
  ASSERT_TRUE(w.fill("sql/text", first, ""));
  EXPECT_FALSE(w.has("sql/count"));
  ASSERT_TRUE(w.press("Ctrl+Enter"));
  EXPECT_EQ(w.text("sql/text"), first) << "the key is not typed";
  EXPECT_EQ(w.text("sql/count"), "3 rows");
  // Typing continues after the existing text.
  ASSERT_TRUE(w.press("Enter"));
  w->type("offset 29");
  EXPECT_EQ(w.text("sql/text"), first + "\noffset 29");
  EXPECT_EQ(w.text("sql/count"), "3 rows") << "Enter runs nothing";
  ASSERT_TRUE(w.press("Ctrl+Enter"));
  EXPECT_EQ(w.text("sql/count"), "1 row");
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
