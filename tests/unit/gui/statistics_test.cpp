// The panel Statistics, and flows between ranks in the timeline.
#include <gtest/gtest.h>

#include "gui/panels/timeline/timeline_data.h"
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

// A permute shows who sends to whom: in the timeline, in its hover text, and in Collectives.
TEST(Flows, APermuteIsMessagesBetweenItsMembers) {
  Workbench w(write_file("ring.hir",
                         "mesh @m = <x=3>\n"
                         "host @f on @m (%a: shard<3xf32, @m, [{x}]>) -> (%b: shard<3xf32, @m, "
                         "[{x}]>, %d: shard<3xf32, @m, [{x}]>) {\n"
                         "  %c = comm over {x}\n  %s = stream \"s\"\n"
                         "  %b = alloc on %s : shard<3xf32, @m, [{x}]>\n"
                         "  %d = alloc on %s : shard<3xf32, @m, [{x}]>\n"
                         "  permute %c shift(1) ro(%a) wo(%b) on %s\n"
                         "  permute %c pairs [[2, 0], [1, 1]] ro(%a) wo(%d) on %s\n"
                         "  return %b, %d\n}\n"));
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.press("F5"));
  w.only("timeline");
  ASSERT_TRUE(w.has("timeline/arrows"));
  EXPECT_EQ(w.text("timeline/arrows"), "4");  // not the one from r1 to itself
  w.only("ledger");
  EXPECT_EQ(w.text("ledger/0/what"), "\u2192 permute  4 B  r0\u2192r1\u2192r2\u2192r0");
  EXPECT_EQ(w.text("ledger/1/what"), "\u2192 permute  4 B  r2\u2192r0, r1\u2192r1");
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    interp::EventFilter filter;
    filter.mnemonics = {"permute"};
    const auto events = log.events(filter, stop);
    ASSERT_TRUE(events && !events->empty());
    const auto event = fetch_event(log, events->front().id, w.shot().program.get(), stop);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->arrived_text(), "3 of 3");
    EXPECT_EQ(routes_text(event->routes), "r0\u2192r1\u2192r2\u2192r0");
  });
}

TEST(Flows, OfManyPairsAFewAreNamed) {
  std::vector<RankRoute> ring;
  for (interp::Rank r = 0; r < 64; ++r) ring.emplace_back(r, (r + 1) % 64);
  EXPECT_EQ(routes_text(ring),
            "r0\u2192r1\u2192r2\u2192r3\u2192r4\u2192r5\u2192r6\u2192r7\u2192r8 \u2026 (64 pairs)");
  EXPECT_EQ(routes_text({}), "");
}

// A message waits only for its two sides, whatever the size of its communicator.
TEST(Flows, AMessageHasTwoSides) {
  Workbench w(write_file("pair.hir",
                         "mesh @m = <x=4>\n"
                         "host @f on @m (%a: shard<4xf32, @m, [{x}]>, inout %b: shard<4xf32, @m, "
                         "[{x}]>) -> (%b: shard<4xf32, @m, [{x}]>) {\n"
                         "  %c = comm over {x}\n"
                         "  %s = stream \"s\"\n"
                         "  where coord(x) == 1 {\n    send %c peer(3) ro(%a) on %s\n  }\n"
                         "  where coord(x) == 3 {\n    recv %c peer(1) wo(%b) on %s\n  }\n"
                         "  return %b\n}\n"));
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.press("F5"));
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    interp::EventFilter filter;
    filter.mnemonics = {"recv"};
    const auto events = log.events(filter, stop);
    ASSERT_TRUE(events && events->size() == 1u);
    const auto event = fetch_event(log, events->front().id, nullptr, stop);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->arrived_text(), "2 of 2");
    TimelineRun run;
    run.instruction = events->front().instruction;
    run.count = 1;
    const std::string text = describe(fetch_names(log), run, &*event);
    EXPECT_TRUE(says(text, "r1\u2192r3, message 0, 4 B")) << text;
  });
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
