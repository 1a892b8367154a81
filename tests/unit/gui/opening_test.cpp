// Opening shows progress and can be cancelled; logs that cannot be re-run are read-only.
#include <filesystem>
#include <fstream>

#include "gui/panels/panels.h"
#include "tests/unit/gui/workbench.h"
#include "tests/unit/traces/synthetic_run.h"
#include "traces/database/sqlite.h"
#include "traces/writer/trace_writer.h"

namespace hostir::gui {
namespace {

// Opens programs called "slow" only when told to stop, all others at once.
class SlowFactory final : public interp::SessionFactory {
 public:
  Expected<std::unique_ptr<interp::Session>> open(const interp::OpenRequest& request,
                                                  const interp::PrepareProgress& watch) override {
    if (request.path == "slow") {
      HOSTIR_TRY(watch.begin("thinking hard"));
      while (!watch.stop.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      HOSTIR_TRY(watch.begin("thinking even harder"));
    }
    return real_.open(request, watch);
  }
  const SourceManager& sources() const override { return real_.sources(); }

 private:
  api::SessionOpener real_{[] {
    api::SessionOptions options;
    options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
    return options;
  }()};
};

bool wait_for(Headless& window, const std::string& widget) {
  for (int i = 0; i < 3000 && !window.has(widget); ++i) {
    window.step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return window.has(widget);
}

TEST(Opening, SaysWhatItDoesAndEscapeCallsItOff) {
  SlowFactory factory;
  AppOptions options;
  options.open.path = "slow";
  Headless window(factory, options, 1200, 800);
  ASSERT_TRUE(wait_for(window, "opening/cancel"));
  for (int i = 0; i < 20; ++i) window.step();
  EXPECT_NE(window.text("opening/part").find("thinking hard"), std::string::npos);
  ASSERT_TRUE(window.press("Esc"));
  ASSERT_TRUE(window.wait_until_idle(30));
  EXPECT_TRUE(window.has("start/open")) << "nothing is open: the page to begin with";
  EXPECT_TRUE(window.app().model().open_error().empty());
  window.app().drop_file(kMlp);
  ASSERT_TRUE(window.wait_until_idle(30));
  ASSERT_TRUE(window.app().model().snapshot());
}

TEST(Opening, CalledOffItLeavesWhatWasOpen) {
  SlowFactory factory;
  AppOptions options;
  options.open.path = kMlp;
  Headless window(factory, options, 1200, 800);
  ASSERT_TRUE(window.wait_until_idle(30));
  ASSERT_TRUE(window.press("F10"));
  ASSERT_TRUE(window.wait_until_idle(30));
  const uint64_t at = window.app().model().snapshot()->position.decision;
  window.app().drop_file("slow");
  ASSERT_TRUE(wait_for(window, "banner/file.cancel_opening"));
  EXPECT_NE(window.text("banner").find("thinking hard"), std::string::npos);
  ASSERT_TRUE(window.click("banner/file.cancel_opening"));
  ASSERT_TRUE(window.wait_until_idle(30));
  EXPECT_FALSE(window.has("banner"));
  EXPECT_EQ(window.app().model().snapshot()->position.decision, at);
  EXPECT_EQ(window.app().model().last_request().path, kMlp) << "what `load again` means";
  ASSERT_TRUE(window.press("F10"));
  ASSERT_TRUE(window.wait_until_idle(30));
  EXPECT_GT(window.app().model().snapshot()->position.decision, at);
}

TEST(Opening, LoweringAndInputsAreCalledOffToo) {
  api::SessionOptions options;
  options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
  api::SessionOpener factory{options};
  std::vector<std::string> parts;
  interp::PrepareProgress watch;
  watch.part = [&](std::string_view part) { parts.emplace_back(part); };
  ASSERT_TRUE(factory.open({.path = kMlp}, watch));
  ASSERT_GT(parts.size(), 6u);
  // Opening can be stopped at every part.
  for (size_t at = 0; at < parts.size(); ++at) {
    std::stop_source stop;
    size_t seen = 0;
    watch.stop = stop.get_token();
    watch.part = [&](std::string_view) {
      if (seen++ == at) stop.request_stop();
    };
    const auto opened = factory.open({.path = kMlp}, watch);
    if (at + 1 == parts.size()) break;  // after the last part there is nothing to cancel
    ASSERT_FALSE(opened) << parts[at];
    EXPECT_EQ(opened.error().message(), "cancelled") << parts[at];
    EXPECT_LE(seen, at + 2) << parts[at];
  }
}

std::string synthetic_log_path(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  return path;
}

std::string synthetic_log(const std::string& name, int64_t iterations) {
  const std::string path = synthetic_log_path(name);
  auto writer = traces::TraceWriter::create(path, traces::testing::synthetic_description(4));
  EXPECT_TRUE(writer) << writer.error().message();
  traces::testing::SyntheticRun run(**writer, 4);
  run.iterate(iterations);
  EXPECT_TRUE((*writer)->close());
  return path;
}

TEST(LookOnly, ALogThatCannotBeRunAgainIsShownAndSaysWhy) {
  Workbench w(synthetic_log("look.db", 40));
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_FALSE(w.shot().no_stepping.empty());
  EXPECT_NE(w.text("banner").find("cannot be stepped"), std::string::npos) << w.text("banner");
  EXPECT_EQ(w.shot().rank_count(), 4);
  EXPECT_EQ(w.shot().ledger->size(), 40u);
  EXPECT_EQ(w.shot().ledger->front().cells.size(), 4u);
  for (const auto& panel : make_panels()) {
    w.only(std::string(panel->id()));
    w.model().selection.code = 1;
    w.model().selection.value = "x";
    ASSERT_TRUE(w->wait_until_idle(30)) << panel->id();
  }
  w.only("timeline");
  EXPECT_TRUE(w.has("timeline/lane/r3/host"));
  w.only("events");
  EXPECT_NE(w.text("events/count").find("640"), std::string::npos) << w.text("events/count");
  w.only("ledger");
  EXPECT_EQ(w.text("ledger/0/3"), "done");
  w.only("sql");
  ASSERT_TRUE(w.fill("sql/text", "select count(*) as n from event", ""));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_EQ(w.text("sql/count"), "1 row");
  // Stepping is disabled, but the focus can still be moved.
  w.press("F10");
  EXPECT_EQ(w.decision(), 0u);
  w.perform("rank 2");
  EXPECT_EQ(w.shot().focus, 2);
  w.perform("goto 3");
  EXPECT_NE(w.model().command_error().find("read-only"), std::string::npos)
      << w.model().command_error();
}

TEST(LookOnly, AProgramTextThatNoLongerReadsIsListedFromTheLog) {
  const std::string path = testing::TempDir() + "unreadable.db";
  std::filesystem::remove(path);
  {
    api::SessionOptions options;
    options.log_path = path;
    options.missing_inputs = api::SessionOptions::MissingInputs::kMakeUp;
    api::SessionOpener factory{options};
    auto session = factory.open({.path = kMlp});
    ASSERT_TRUE(session);
    ASSERT_TRUE((*session)->execute(*interp::parse_command("continue"), {}));
  }
  {
    Workbench w(path);
    ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
    EXPECT_TRUE(w.shot().no_stepping.empty()) << w.shot().no_stepping;
  }
  {
    auto database = traces::Database::open(path, traces::Database::Mode::kReadWrite);
    ASSERT_TRUE(database);
    const auto changed =
        database->execute("UPDATE source SET text = replace(text, 'launch', 'lunch')");
    ASSERT_TRUE(changed) << changed.error().message();
  }
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_FALSE(w.shot().no_stepping.empty());
  EXPECT_GT(w.shot().memory[0]->allocations.size(), 2u) << "layouts come from the log";
  for (const auto& panel : make_panels()) {
    w.only(std::string(panel->id()));
    w.model().selection.value = "y";
    ASSERT_TRUE(w->wait_until_idle(30)) << panel->id();
  }
  w.only("host_ir");
  w.only("history");
  EXPECT_NE(w.text("history/count").find("write"), std::string::npos);
}

TEST(Robust, ALogOfANewerVersion) {
  const std::string path = synthetic_log("newer.db", 4);
  {
    auto database = traces::Database::open(path, traces::Database::Mode::kReadWrite);
    ASSERT_TRUE(database && database->execute("PRAGMA user_version = 1000"));
  }
  Workbench w(path);
  EXPECT_FALSE(w.model().snapshot());
  EXPECT_NE(w.text("error/text").find("newer"), std::string::npos) << w.text("error/text");
  EXPECT_FALSE(w.has("error/edit")) << "there is no text to edit";
  w->app().drop_file(kMlp);
  ASSERT_TRUE(w->wait_until_idle(30));
  EXPECT_TRUE(w.model().snapshot());
}

// The log was never closed, and its writer is gone.
TEST(Robust, ALogCutByAKill) {
  const std::string path = testing::TempDir() + "killed.db";
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  {
    const std::string written = synthetic_log_path("being_written.db");
    auto writer = traces::TraceWriter::create(written, traces::testing::synthetic_description(2));
    ASSERT_TRUE(writer);
    traces::testing::SyntheticRun run(**writer, 2);
    run.iterate(200);
    ASSERT_TRUE((*writer)->flush());
    for (const char* suffix : {"", "-wal"}) {
      if (std::filesystem::exists(written + suffix))
        std::filesystem::copy_file(written + suffix, path + suffix);
    }
  }
  {
    auto database = traces::Database::open(path, traces::Database::Mode::kReadWrite);
    ASSERT_TRUE(database && database->execute("UPDATE run SET writer = '1 nobody 0'"));
  }
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_NE(w.model().open_warning().find("killed"), std::string::npos);
  ASSERT_TRUE(w.click("banner/dismiss"));  // the note that it cannot be stepped
  EXPECT_NE(w.text("banner").find("killed"), std::string::npos) << w.text("banner");
  w.only("events");
  EXPECT_NE(w.text("events/count"), "");
  ASSERT_TRUE(w.click("banner/dismiss"));
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}

}  // namespace
}  // namespace hostir::gui
