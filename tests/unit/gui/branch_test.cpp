// History that was undone and replaced: it stays in the log, but no panel shows it as what
// happened.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "gui/panels/timeline/timeline_data.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

// Runs to the end, goes back to decision eight, and runs again with another input.
struct Branched {
  Workbench w{kMlp};
  Branched() {
    w.press("F5");
    w.perform("goto 7");
    w.perform("set %x[0, 0, 0] = 7");
    w.press("F5");
  }
};

TEST(Branches, ACollectiveHasItsMembersOnceAndEventsTellWhatWasUndone) {
  Branched branched;
  Workbench& w = branched.w;
  w.only("events");
  ASSERT_TRUE(w.fill("events/filter", "op=all_reduce"));
  w->wait_until_idle(30);
  ASSERT_TRUE(w.has("events/3")) << "two ranks, twice";
  EXPECT_EQ(w.text("events/0/undone"), "0");
  EXPECT_FALSE(w.has("events/3/undone"));
  ASSERT_TRUE(w.click("events/3"));
  ASSERT_TRUE(w.fill("events/filter", "op=all_reduce undone=no"));
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has("events/1"));
  EXPECT_FALSE(w.has("events/2"));
  ASSERT_TRUE(w.fill("events/filter", "op=all_reduce undone=yes"));
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has("events/1/undone"));
  EXPECT_FALSE(w.has("events/2"));
  w.only("timeline");
  w->wait_until_idle(30);
  EXPECT_NE(w.text("timeline/collective").find("2 of 2 arrived"), std::string::npos)
      << w.text("timeline/collective");
}

TEST(Branches, WhatWasUndoneHoldsNoMemoryAndLeaksNothing) {
  Branched branched;
  Workbench& w = branched.w;
  w.only("memory");
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("memory/blocks"), "8 blocks");  // same as without the edit
}

TEST(Branches, HistoryListsWhatHappenedAndCountsWhatWasUndone) {
  Branched branched;
  Workbench& w = branched.w;
  w.only("history");
  w.model().selection.value = "y";
  w->wait_until_idle(30);
  EXPECT_TRUE(w.text("history/count").starts_with("2 writes, 2 undone")) << w.text("history/count");
}

TEST(Branches, InOrderOfStepsWhatWasUndoneIsAGap) {
  Branched branched;
  Workbench& w = branched.w;
  size_t shown = 0;
  size_t undone = 0;
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    TimelineKey key;
    key.axis = TimelineAxis::kSteps;
    key.view = {-5, static_cast<double>(log.extent().event_count + 5)};
    for (size_t t = 0; t < log.tracks().size(); ++t)
      key.tracks.push_back(static_cast<interp::TrackId>(t));
    std::set<int64_t> events;
    if (const auto lanes = fetch_steps(log, key, stop)) {
      for (const auto& lane : lanes->runs) {
        for (const TimelineRun& run : lane) events.insert(run.event);
      }
    }
    for (const int64_t id : events) ++(log.shows(id) ? shown : undone);
  });
  EXPECT_EQ(undone, 0u);
  EXPECT_EQ(shown, 30u);  // same as without the edit
}

TEST(Branches, TheScheduleIsThatOfTheLastBranch) {
  Branched branched;
  Workbench& w = branched.w;
  const uint64_t last = w.shot().last_decision;
  w.only("schedule");
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has(fmt::format("schedule/{}", last - 1))) << w.text("schedule/next");
}

}  // namespace
}  // namespace hostir::gui
