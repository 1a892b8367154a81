// The timeline: hues and glyphs, waits of streams, the steps axis, walking between events, lanes
// that do not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "gui/panels/collectives/collective_glyph.h"
#include "gui/panels/program/code_text.h"
#include "gui/panels/timeline/lane_groups.h"
#include "gui/panels/timeline/timeline_camera.h"
#include "gui/panels/timeline/timeline_data.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

constexpr const char* kSpMlp = "tests/programs/sp_mlp.hir";

/// The first widget with this name prefix; nullptr if there is none.
const std::pair<const std::string, WidgetRect>* first_named(Workbench& w,
                                                            const std::string& prefix) {
  const auto& all = w->app().ui().widgets();
  const auto at = all.lower_bound(prefix);
  return at != all.end() && at->first.starts_with(prefix) ? &*at : nullptr;
}

/// The first event of an instruction on a rank.
int64_t event_of(Workbench& w, const std::string& mnemonic, interp::Rank rank) {
  int64_t id = -1;
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    interp::EventFilter filter;
    filter.ranks = {rank};
    filter.mnemonics = {mnemonic};
    const auto events = log.events(filter, std::move(stop));
    if (events && !events->empty()) id = events->front().id;
  });
  return id;
}

TEST(Marks, WhatMovesDataBelongsTogetherAndHasItsGlyph) {
  for (const char* op : {"all_reduce", "reduce"})
    EXPECT_EQ(event_kind(op, true), EventKind::kReduce);
  for (const char* op :
       {"all_gather", "gather", "reduce_scatter", "scatter", "all_to_all", "broadcast"})
    EXPECT_EQ(event_kind(op, true), EventKind::kGather) << op;
  for (const char* op : {"send", "recv", "permute"})
    EXPECT_EQ(event_kind(op, true), EventKind::kPointToPoint) << op;
  EXPECT_EQ(with_glyph("reduce_scatter"), "\u229f reduce_scatter");
  EXPECT_EQ(with_glyph("launch"), "launch");
}

TEST(Marks, OnlyTheHostsOwnWaitIsDrawnAsWaiting) {
  EXPECT_EQ(event_kind("wait", false), EventKind::kWait);
  EXPECT_EQ(event_kind("wait", true), EventKind::kHost);
}

TEST(Marks, TheProgramHasTheSameHues) {
  const Palette& p = palette(ThemeKind::kDark);
  const auto hue = [&](std::string_view line, std::string_view word) {
    for (const CodePiece& piece : colour_line(line, p)) {
      if (piece.text == word) return piece.colour;
    }
    return ImU32{0};
  };
  EXPECT_EQ(hue("all_reduce sum %c rw(%y) on %n", "all_reduce"), p.event(EventKind::kReduce));
  EXPECT_EQ(hue("reduce_scatter sum %c", "reduce_scatter"), p.event(EventKind::kGather));
  EXPECT_EQ(hue("send %c ro(%y)", "send"), p.event(EventKind::kPointToPoint));
}

TEST(Timeline, AStreamShowsWhatItWaitsForWhereItWaits) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  const int64_t launch = [&] {  // the one after the all_reduce
    int64_t last = -1;
    ask(w, [&](const interp::LogView& log, std::stop_token stop) {
      interp::EventFilter filter;
      filter.ranks = {0};
      filter.mnemonics = {"launch"};
      const auto events = log.events(filter, std::move(stop));
      if (events && !events->empty()) last = events->back().id;
    });
    return last;
  }();
  const std::string name = "timeline/wait/" + std::to_string(launch);
  ASSERT_TRUE(w.has(name));
  EXPECT_NE(w.text(name).find("r0 compute waits"), std::string::npos) << w.text(name);
  EXPECT_NE(w.text(name).find("for events of other streams"), std::string::npos) << w.text(name);
  // The wait lasts from the task's issue to its start, no longer.
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    TimelineKey key;
    key.view = {0, static_cast<double>(log.extent().end_ns)};
    key.columns = 1000;
    for (size_t t = 0; t < log.tracks().size(); ++t)
      key.tracks.push_back(static_cast<interp::TrackId>(t));
    const auto lanes = fetch_lanes(log, key, nullptr, stop);
    const auto event = log.event(launch);
    ASSERT_TRUE(lanes && event);
    int found = 0;
    for (const auto& waits : lanes->waits) {
      for (const TimelineWait& wait : waits) {
        if (wait.event != launch) continue;
        ++found;
        EXPECT_EQ(wait.from_ns, event->host_end_ns);
        EXPECT_EQ(wait.to_ns, event->start_ns);
      }
    }
    EXPECT_EQ(found, 1);
  });
}

TEST(Timeline, InOrderOfStepsEveryEventIsOneStepWide) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  EXPECT_EQ(w.text("timeline/axis"), "time");
  ASSERT_TRUE(w.click("timeline/axis"));
  EXPECT_EQ(w.text("timeline/axis"), "steps");
  EXPECT_EQ(w.text("timeline/status"), "order of steps, 30 in all");
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    TimelineKey key;
    key.axis = TimelineAxis::kSteps;
    key.view = {-5, 40};
    for (size_t t = 0; t < log.tracks().size(); ++t)
      key.tracks.push_back(static_cast<interp::TrackId>(t));
    const auto lanes = fetch_steps(log, key, stop);
    ASSERT_TRUE(lanes);
    std::set<int64_t> hosts;
    for (size_t t = 0; t < key.tracks.size(); ++t) {
      for (const TimelineRun& run : lanes->runs[t]) {
        EXPECT_EQ(run.end_ns - run.begin_ns, 1);
        EXPECT_EQ(run.begin_ns, run.event);
        if (log.tracks()[t].stream < 0) hosts.insert(run.event);
      }
    }
    EXPECT_EQ(hosts.size(), 30u);  // every event is issued by one host
    EXPECT_EQ(lanes->decisions.size(), 30u);
  });
  ASSERT_TRUE(w.click("timeline/axis"));
  EXPECT_EQ(w.text("timeline/axis"), "time");
}

TEST(Timeline, TheAxisOfStepsAndLowLanesComeBack) {
  const std::string settings = testing::TempDir() + "hostir_timeline.conf";
  std::filesystem::remove(settings);
  float high = 0;
  {
    Workbench w(kMlp, 1600, 1000, settings);
    w.press("F5");
    w.only("timeline");
    const WidgetRect* lane = w->app().ui().find("timeline/lane/r1/host");
    ASSERT_TRUE(lane);
    high = lane->max.y - lane->min.y;
    ASSERT_TRUE(w.click("timeline/axis"));
    ASSERT_TRUE(w.click("timeline/lanes"));
  }
  Workbench w(kMlp, 1600, 1000, settings);
  w.press("F5");
  w.only("timeline");
  EXPECT_EQ(w.text("timeline/axis"), "steps");
  const WidgetRect* lane = w->app().ui().find("timeline/lane/r1/host");
  ASSERT_TRUE(lane);
  EXPECT_LT(lane->max.y - lane->min.y, high);
  std::filesystem::remove(settings);
}

TEST(Timeline, NotesBelongToTheProgramAndComeBack) {
  const std::string settings = testing::TempDir() + "hostir_notes.conf";
  std::filesystem::remove(settings);
  const auto run_and_look = [](Workbench& w) {
    w.press("F5");
    w.only("timeline");
    ASSERT_TRUE(w.has("timeline"));
  };
  const auto open = [&](Workbench& w, const char* path) {
    w->app().drop_file(path);
    ASSERT_TRUE(w->wait_until_idle(30));
    run_and_look(w);
  };
  {
    Workbench w(kMlp, 1600, 1000, settings);
    run_and_look(w);
    ASSERT_TRUE(w->hover("timeline"));
    ASSERT_TRUE(w.press("M"));
    w->type("why = so late");
    ASSERT_TRUE(w.press("Enter"));
    EXPECT_EQ(w.text("timeline/note/0"), "why = so late");
    open(w, kSpMlp);
    EXPECT_FALSE(w.has("timeline/note/0")) << "of another program";
    ASSERT_TRUE(w->hover("timeline"));
    ASSERT_TRUE(w.press("M"));
    w->type("the other");
    ASSERT_TRUE(w.press("Enter"));
    open(w, kMlp);
    EXPECT_EQ(w.text("timeline/note/0"), "why = so late");
    EXPECT_FALSE(w.has("timeline/note/1"));
  }
  Workbench w(kMlp, 1600, 1000, settings);
  run_and_look(w);
  EXPECT_EQ(w.text("timeline/note/0"), "why = so late");
  EXPECT_FALSE(w.has("timeline/note/1"));
  const int64_t at = w.model().timeline_notes.front().time_ns;
  EXPECT_GT(at, 0);
  open(w, kSpMlp);
  EXPECT_EQ(w.text("timeline/note/0"), "the other");
  std::filesystem::remove(settings);
}

TEST(Timeline, OfMoreStepsThanFitThoseAroundThePositionAreShown) {
  TimelineCamera camera;
  camera.set_axis(TimelineAxis::kSteps);
  interp::LogExtent extent;
  extent.event_count = 100 * kMaxSteps;
  for (const double reached : {0.0, 0.5, 1.0}) {
    camera.set_extent(extent, reached);
    camera.fit();
    EXPECT_LE(camera.view().span_ns(), static_cast<double>(kMaxSteps));
    const double here = reached * static_cast<double>(extent.event_count);
    EXPECT_LE(camera.view().from_ns, here);
    EXPECT_GE(camera.view().to_ns, here);
    camera.zoom(1000, here);
    EXPECT_LE(camera.view().span_ns(), static_cast<double>(kMaxSteps) + 1);
  }
}

TEST(Timeline, CommaAndDotGoAlongTheLane) {
  Workbench w(kMlp);
  w.press("F5");
  const int64_t first = event_of(w, "launch", 0);
  w.model().selection.event = first;
  ASSERT_TRUE(w.press("."));
  const int64_t next = w.model().selection.event;
  EXPECT_GT(next, first);
  EXPECT_EQ(w.model().selection.rank, 0);
  ask(w, [&](const interp::LogView& log, std::stop_token) {
    EXPECT_EQ(log.event(next)->stream, log.event(first)->stream);
  });
  ASSERT_TRUE(w.press(","));
  EXPECT_EQ(w.model().selection.event, first);
  // At the end there is no next event, and a message says so.
  w.model().selection.event = event_of(w, "return", 1);
  const size_t messages = w.model().messages().size();
  const int64_t last = w.model().selection.event;
  ASSERT_TRUE(w.press("."));
  EXPECT_EQ(w.model().selection.event, last);
  EXPECT_GT(w.model().messages().size(), messages);
}

TEST(Timeline, BracketsFollowCollectivesAndWaits) {
  Workbench w(kMlp);
  w.press("F5");
  const int64_t on_0 = event_of(w, "all_reduce", 0);
  const int64_t on_1 = event_of(w, "all_reduce", 1);
  w.model().selection.event = on_0;
  ASSERT_TRUE(w.press("]"));
  EXPECT_EQ(w.model().selection.event, on_1);
  EXPECT_EQ(w.model().selection.rank, 1);
  ASSERT_TRUE(w.press("["));
  EXPECT_EQ(w.model().selection.event, on_0);
  const int64_t wait = event_of(w, "wait", 0);
  w.model().selection.event = wait;
  ASSERT_TRUE(w.press("["));
  const int64_t producer = w.model().selection.event;
  ask(w, [&](const interp::LogView& log, std::stop_token) {
    EXPECT_EQ(log.event(producer)->task, log.event(wait)->waited_for);
  });
  ASSERT_TRUE(w.press("]"));
  EXPECT_EQ(w.model().selection.event, wait);
}

TEST(Timeline, LanesThatDoNotFitHaveABar) {
  Workbench w(kSpMlp);
  interp::OpenRequest request = w.model().last_request();
  request.mesh_sizes = {{"tp", 48}};
  w.model().open(request);
  w->wait_until_idle(30);
  w.press("F5");
  w.only("timeline");
  ASSERT_EQ(w.shot().rank_count(), 48);
  ASSERT_TRUE(w.has("timeline/scrollbar"));
  EXPECT_TRUE(w.text("timeline/scrollbar").starts_with("lanes 1 to"))
      << w.text("timeline/scrollbar");
  ASSERT_TRUE(w.has("timeline/lane/r0/host"));
  ASSERT_TRUE(w.click("timeline/scrollbar"));
  EXPECT_FALSE(w.text("timeline/scrollbar").starts_with("lanes 1 to"));
  EXPECT_FALSE(w.has("timeline/lane/r0/host"));
  EXPECT_LE(w->vertex_count(), 60000);
  // An event selected elsewhere scrolls into view.
  w.model().selection.event = event_of(w, "all_gather", 0);
  ASSERT_GE(w.model().selection.event, 0);
  w->wait_until_idle(30);
  EXPECT_TRUE(w.has("timeline/lane/r0/comm"));
}

TEST(Timeline, RanksAlongAMeshAxisShareLanesUntilTheyAreOpened) {
  Workbench w(kSpMlp);
  interp::OpenRequest request = w.model().last_request();
  request.mesh_sizes = {{"tp", 8}};
  w.model().open(request);
  w->wait_until_idle(30);
  w.press("F5");
  w.only("timeline");
  ASSERT_TRUE(w.has("timeline/lane/r5/comm"));
  ASSERT_TRUE(w.click("timeline/groups"));
  EXPECT_EQ(w.text("timeline/groups"), "Merged over tp");
  EXPECT_FALSE(w.has("timeline/lane/r5/comm"));
  ASSERT_TRUE(w.has("timeline/group/0/comm"));
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    LaneGroups groups;
    Mesh mesh;
    mesh.axes = {{"tp", 8}};
    groups.next(&mesh, log.tracks());
    ASSERT_TRUE(groups.on());
    EXPECT_EQ(groups.at(0).name, "r0-r7");
    ASSERT_EQ(groups.at(0).tracks[1].size(), 8u);
    const interp::TimelineRequest all{0, log.extent().begin_ns, log.extent().end_ns, 500};
    const auto runs = fetch_envelope(log, all, groups.at(0).tracks[1], event_kinds(log), stop);
    ASSERT_TRUE(runs && !runs->empty());
    for (const TimelineRun& run : *runs) {
      EXPECT_EQ(run.ranks, 8u);
      EXPECT_EQ(run.event, -1);
    }
    groups.next(&mesh, log.tracks());
    EXPECT_FALSE(groups.on());
  });
  ASSERT_TRUE(w.click("timeline/group/0/comm"));
  EXPECT_TRUE(w.has("timeline/lane/r5/comm"));
  EXPECT_FALSE(w.has("timeline/group/0/comm"));
  ASSERT_TRUE(w.click("timeline/fold/r0"));
  EXPECT_TRUE(w.has("timeline/group/0/comm"));
  ASSERT_TRUE(w.click("timeline/groups"));
  EXPECT_EQ(w.text("timeline/groups"), "Each rank");
}

TEST(Timeline, TheSkewStandsBesideItsCollective) {
  Workbench w(kMlp);
  w.press("F5");
  w.only("timeline");
  w.model().selection.event = event_of(w, "all_reduce", 0);
  w->wait_until_idle(30);
  const WidgetRect* label = w->app().ui().find("timeline/collective");
  const WidgetRect* lane = w->app().ui().find("timeline/lane/r1/comm");
  ASSERT_TRUE(label && lane);
  EXPECT_NE(label->text.find("skew"), std::string::npos);
  const float away = std::abs((label->min.y + label->max.y) / 2 - (lane->min.y + lane->max.y) / 2);
  EXPECT_LE(away, 1.5f * (lane->max.y - lane->min.y));
}

TEST(Timeline, TheMinimapShowsHostsBeforeAnyKernelRan) {
  Workbench w(kMlp);
  w.perform("step");
  w.only("timeline");
  ask(w, [&](const interp::LogView& log, std::stop_token stop) {
    const auto overview = fetch_overview(log, 100, stop);
    ASSERT_TRUE(overview);
    EXPECT_GT(*std::max_element(overview->host.begin(), overview->host.end()), 0);
    EXPECT_EQ(*std::max_element(overview->compute.begin(), overview->compute.end()), 0);
  });
  w->hover("timeline/minimap");
  w->step();
  EXPECT_NE(w.text("timeline/minimap/tooltip").find("hosts"), std::string::npos);
}

TEST(Timeline, TheFoundOnesAreLitAndTheRestStaysNamed) {
  Workbench w(kSpMlp);
  w.press("F5");
  w.only("timeline");
  ASSERT_NE(first_named(w, "timeline/wait/"), nullptr);
  ASSERT_TRUE(w.fill("timeline/find", "reduce_scatter", ""));
  EXPECT_NE(first_named(w, "timeline/wait/"), nullptr);
  ASSERT_TRUE(w.click("timeline/next"));
  EXPECT_NE(w.text("timeline/collective").find("\u229f reduce_scatter"), std::string::npos);
}

}  // namespace
}  // namespace hostir::gui
