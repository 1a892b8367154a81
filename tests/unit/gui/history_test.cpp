// The list of writes fills while it is shown, visible rows first; sources and past values come on
// demand.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "gui/panels/history/write_list.h"
#include "tests/unit/gui/workbench.h"
#include "traces/database/sqlite.h"
#include "traces/reader/log_reader.h"

namespace hostir::gui {
namespace {

// %y is written once and then doubled in each of `times` iterations, on two ranks.
std::string looping_program(int times) {
  const std::string path = testing::TempDir() + fmt::format("writes{}.hir", times);
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "kernel @ones() -> (%v: tensor<4xf32>) {\n"
                         "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
                         "kernel @twice(%a: tensor<4xf32>) -> (%v: tensor<4xf32>) {\n"
                         "  %v = add %a, %a\n  return %v\n}\n"
                         "kernel @same(%a: tensor<4xf32>) -> (%v: tensor<4xf32>) {\n"
                         "  %one = constant {value = 1} : tensor<4xf32>\n"
                         "  %v = mul %a, %one\n  return %v\n}\n"
                         "host @f on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
                         "  %z = alloc on %s : shard<4xf32, @m, [{}]>\n"
                         "  launch @ones wo(%y) on %s\n"
                      << fmt::format("  for %i in 0..{} {{\n", times)
                      << "    launch @twice ro(%y) wo(%z) on %s\n"
                         "    launch @same ro(%z) wo(%y) on %s\n  }\n"
                         "  return %y\n}\n";
  return path;
}

void select(Workbench& w, const std::string& value, std::vector<int64_t> element) {
  w.model().selection.value = value;
  w.model().selection.element = std::move(element);
  w->wait_until_idle(30);
}

TEST(HistoryPanel, ALongListIsCountedFirstAndReadAfterwards) {
  Workbench w(looping_program(2000));
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.perform("continue"));
  w.only("history");
  select(w, "y", {});
  EXPECT_EQ(w.text("history/count"), "4002 writes");
  EXPECT_NE(w.text("history/0").find("launch"), std::string::npos) << w.text("history/0");
  EXPECT_EQ(w.text("history/0/value"), "1 everywhere");
  EXPECT_EQ(w.text("history/2/value"), "2 everywhere");
  // The sources in a long list are expanded one by one.
  EXPECT_EQ(w.text("history/2/open"), "closed");
  ASSERT_TRUE(w.click("history/2/open"));
  EXPECT_EQ(w.text("history/2/open"), "open");
  EXPECT_NE(w.text("history/3").find("reads %z"), std::string::npos) << w.text("history/3");
  ASSERT_TRUE(w.click("history/2/open"));
  EXPECT_EQ(w.text("history/3").find("reads"), std::string::npos);
}

TEST(HistoryPanel, AListGrowsWithTheRunAndShowsNoRowTwice) {
  Workbench w(looping_program(40));
  w.only("history");
  select(w, "y", {});
  EXPECT_FALSE(w.has("history/count"));
  ASSERT_TRUE(w.perform("next 12"));
  w->wait_until_idle(30);
  ASSERT_TRUE(w.perform("continue"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("history/count"), "82 writes");
  ASSERT_TRUE(w.perform("goto 8"));
  w->wait_until_idle(30);
  EXPECT_EQ(w.text("history/count"), "82 writes; dim: later than this position");
}

TEST(HistoryPanel, PastValuesComeFromRunningTheProgramAgain) {
  Workbench w(looping_program(30));
  ASSERT_TRUE(w.perform("continue"));
  ASSERT_TRUE(w.perform("set %y[0] = 5"));  // its elements are no longer all equal
  ASSERT_TRUE(w.perform("run"));
  ASSERT_TRUE(w.perform("continue"));
  w.only("history");
  select(w, "y", {1});
  // Show what the log has: the range, which is one number here.
  EXPECT_EQ(w.text("history/count").find("to come"), std::string::npos);
  bool asked = false;
  std::vector<interp::PastValue> values;
  w.model().worker().query_in_background(
      "test", [&](const interp::Session& session, std::stop_token stop) -> std::function<void()> {
        auto found = session.past_values({"y", {1}}, stop);
        EXPECT_TRUE(found) << (found ? "" : found.error().message());
        if (found) values = *found;
        return [&] { asked = true; };
      });
  w->wait_until_idle(30);
  ASSERT_TRUE(asked);
  ASSERT_GE(values.size(), 62u);
  EXPECT_EQ(values[0].text, "1");
  EXPECT_EQ(values[2].text, "2");
  EXPECT_EQ(values[4].text, "4");
}

TEST(HistoryPanel, PastValuesOfAShortRunComeUnasked) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("history");
  select(w, "y_product", {0, 0, 0});
  for (int i = 0; i < 200 && w.text("history/0/value").find("..") != std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    w->wait_until_idle(30);
  }
  EXPECT_EQ(w.text("history/0/value").find(".."), std::string::npos) << w.text("history/0/value");
  EXPECT_NE(w.text("history/0/value"), "");
  EXPECT_FALSE(w.has("history/past")) << "no button to ask for what has come";
  // The addends of an in-place reduction are listed too, and the table begins below the line above
  // it.
  int addends = 0;
  for (int i = 0; w.has(fmt::format("history/{}", i)); ++i) {
    if (w.text(fmt::format("history/{}", i)).find("addend") != 0) continue;
    ++addends;
    EXPECT_EQ(w.text(fmt::format("history/{}/value", i)).find(".."), std::string::npos) << i;
  }
  EXPECT_GT(addends, 0);
  EXPECT_GE(w->app().ui().find("history/0")->min.y, w->app().ui().find("history/count")->max.y);
}

// A closed log of a run of looping_program.
std::string looping_log(int times) {
  const std::string path = testing::TempDir() + fmt::format("writes{}.db", times);
  std::filesystem::remove(path);
  api::SessionOptions options;
  options.log_path = path;
  options.values = "stats";
  api::SessionOpener factory{options};
  auto session = factory.open({.path = looping_program(times)});
  EXPECT_TRUE(session) << session.error().message();
  if (session) {
    const auto ran = (*session)->execute(*interp::parse_command("continue"), {});
    EXPECT_TRUE(ran);
  }
  return path;
}

TEST(WriteList, TheLogTellsTheSameWithAndWithoutItsIndex) {
  const std::string path = looping_log(50);
  const auto found = [&](std::optional<std::vector<int64_t>> element, interp::Rank rank) {
    std::vector<std::tuple<int64_t, int64_t, interp::Rank>> places;
    const auto log = traces::open_log(path);
    EXPECT_TRUE(log);
    const auto writes = (*log)->find_writes({.value = "y", .rank = rank, .element = element});
    EXPECT_TRUE(writes);
    for (const interp::LogWrite& w : writes->places) places.emplace_back(w.event, w.row, w.rank);
    return places;
  };
  const auto all = found(std::nullopt, interp::kNoRank);
  const auto element = found(std::vector<int64_t>{2}, interp::kNoRank);
  const auto of_one = found(std::nullopt, 1);
  EXPECT_EQ(all.size(), 102u);
  EXPECT_EQ(element, all);
  EXPECT_EQ(of_one.size(), 51u);
  EXPECT_TRUE(found(std::vector<int64_t>{4}, interp::kNoRank).empty()) << "outside of the tensor";
  {
    auto database = traces::Database::open(path, traces::Database::Mode::kReadWrite);
    ASSERT_TRUE(database && database->execute("DROP INDEX value_by_tensor"));
  }
  EXPECT_EQ(found(std::nullopt, interp::kNoRank), all);
  EXPECT_EQ(found(std::vector<int64_t>{2}, interp::kNoRank), all);
  EXPECT_EQ(found(std::nullopt, 1), of_one);
}

// The list itself, over a log that no session holds open.
TEST(WriteList, RowsInViewComeFirst) {
  const std::string path = looping_log(3000);
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  WriteList list;
  const WriteListKey key{"y", {}, w.model().last_opened(), 0};
  const auto wait = [&](const auto& done) {
    for (int i = 0; i < 5000 && !done(); ++i) {
      w->step();
      list.update(w.model(), key);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done();
  };
  ASSERT_TRUE(wait([&] { return list.listed(); })) << list.error();
  EXPECT_EQ(list.size(), 6002u);
  EXPECT_EQ(list.read(), 0u);
  list.want(w.model(), 5000, 5040);
  ASSERT_TRUE(wait([&] { return list.row(5000) != nullptr; }));
  EXPECT_EQ(list.row(10), nullptr) << "what is not in view comes later";
  EXPECT_EQ(list.row(5000)->write.event, list.place(5000).event);
  ASSERT_TRUE(wait([&] {
    list.want(w.model(), 5000, 5040);
    return list.read() == list.size();
  })) << list.read();
  for (size_t i = 0; i < list.size(); ++i) {
    ASSERT_TRUE(list.row(i));
    ASSERT_EQ(list.row(i)->write.event, list.place(i).event);
    ASSERT_EQ(list.row(i)->write.rank, list.place(i).rank);
    const size_t next = list.next_of_rank(i);
    ASSERT_TRUE(next == list.size() || list.place(next).rank == list.place(i).rank);
  }
  EXPECT_EQ(list.row(4)->loop, "1");
}

}  // namespace
}  // namespace hostir::gui
