// Copying what is under the mouse, exporting, finding, and recorded runs at their outcome.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "gui/draw/find_text.h"
#include "gui/files/export.h"
#include "hostir/io/files.h"
#include "hostir/io/npy.h"
#include "hostir/support/markup.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::string clipboard() {
  const char* text = ImGui::GetClipboardText();
  return text ? text : "";
}

TEST(Copy, AValue) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  w->wait_until_idle(kIdleSeconds);
  ASSERT_TRUE(w->hover("values/1"));
  w->step();
  ASSERT_TRUE(w.press("Ctrl+C"));
  EXPECT_EQ(clipboard(), "-0.227") << w.text("values/1");
  ASSERT_TRUE(w->hover("values/0"));
  w->step();
  ASSERT_TRUE(w.press("Ctrl+C"));
  EXPECT_EQ(clipboard(), "3.1540685") << w.text("values/0");
}

TEST(Copy, AllDigitsOfACellOfTheLayout) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  w.only("layout");
  const std::string drawn = w.text("layout/cell/0");
  ASSERT_TRUE(w->hover("layout/cell/0"));
  w->step();
  ASSERT_TRUE(w.press("Ctrl+C"));
  EXPECT_NEAR(std::atof(clipboard().c_str()) / std::atof(drawn.c_str()), 1, 0.01);
  EXPECT_EQ(clipboard(), "3.1540685") << drawn;
}

// What is under the mouse can be copied in every panel: each named text, and the pictures.
TEST(Copy, EveryNamedTextOfEveryPanel) {
  struct State {
    const char* program;
    std::vector<const char*> panels;
  };
  const State states[] = {
      {kMlp,
       {"host_ir", "phases", "explain", "layout", "memory", "values", "history", "inside", "ledger",
        "events", "ranks", "schedule", "statistics", "timeline", "messages", "breaks", "sql"}},
      {"tests/programs/mismatch.hir", {"ledger", "waits", "ranks"}},
      {"tests/programs/deadlock.hir", {"waits", "ledger", "timeline"}},
  };
  for (const State& state : states) {
    Workbench w(state.program);
    ASSERT_TRUE(w.press("F5"));
    ASSERT_TRUE(w.perform("break all_reduce"));
    if (std::string(state.program) == kMlp) w.model().selection.value = "y";
    w.model().selection.element = {0, 0, 0};
    for (const char* panel : state.panels) {
      SCOPED_TRACE(std::string(state.program) + " " + panel);
      w.only(panel);
      const WidgetRect leaf = *w->app().ui().find(std::string("leaf/") + panel);
      const auto all = w->app().ui().widgets();
      int copied = 0;
      for (const auto& [name, rect] : all) {
        const ImVec2 at((rect.min.x + rect.max.x) / 2, (rect.min.y + rect.max.y) / 2);
        const bool inside = at.x > leaf.min.x && at.x < leaf.max.x && at.y > leaf.min.y + 40 &&
                            at.y < leaf.max.y - 20;
        if (!inside || rect.text.empty() || rect.max.x - rect.min.x < 4) continue;
        if (++copied > 60) break;
        ImGui::SetClipboardText("nothing");
        if (!w->hover(name)) continue;  // visible only while something else was hovered
        w->step();
        ASSERT_TRUE(w.press("Ctrl+C"));
        EXPECT_NE(clipboard(), "nothing") << name << ": " << rect.text;
      }
      EXPECT_GT(copied, 0);
      ImGui::GetIO().MousePos = ImVec2(-1, -1);
    }
  }
}

TEST(Copy, ARightClickOffersToCopyAndExport) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  w->wait_until_idle(kIdleSeconds);
  ASSERT_TRUE(w.click("values/2", 1));
  const std::string value = w.text("values/2");
  ASSERT_TRUE(w.has("menu/copy"));
  EXPECT_TRUE(w.has("menu/export.npy"));
  EXPECT_TRUE(w.has("menu/export.png"));
  ASSERT_TRUE(w.click("menu/copy"));
  EXPECT_NEAR(std::atof(clipboard().c_str()) / std::atof(value.c_str()), 1, 0.01) << "all digits";
  EXPECT_FALSE(w.has("menu/copy"));
}

TEST(Export, ATensorAsNpyAndCsv) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  for (const char* extension : {".npy", ".csv"}) {
    const std::string path = testing::TempDir() + "exported" + extension;
    std::filesystem::remove(path);
    ASSERT_TRUE(w.perform(std::string("export") + extension));
    EXPECT_EQ(w.text("open/path"), std::string("y") + extension);
    ASSERT_TRUE(w.fill("open/path", path));
    EXPECT_TRUE(says(w.model().messages().back().text, "wrote " + path))
        << w.model().messages().back().text;
    if (std::string(extension) == ".npy") {
      const auto tensor = io::read_npy(path);
      ASSERT_TRUE(tensor);
      EXPECT_EQ(tensor->extents, (Extents{1, 6, 8}));
    } else {
      const std::string text = io::read_file(path).value_or("");
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
      EXPECT_EQ(std::count(text.begin(), text.end(), ','), 42);
    }
    std::filesystem::remove(path);
  }
}

// The result is in the status bar; a file that is there is replaced only if the user says so, and a
// name without a folder is in the folder that the dialog shows.
TEST(Export, AsksBeforeItReplacesAFileAndSaysWhatItWrote) {
  const std::string folder = testing::TempDir() + "exports";
  std::filesystem::create_directories(folder + "/inner");
  const std::string path = folder + "/inner/y.csv";
  std::ofstream(path) << "mine";
  std::ofstream(folder + "/program.hir") << "mine";
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.model().selection.value = "y";
  const auto export_to = [&](const std::string& name) {
    ASSERT_TRUE(w.perform("export.csv"));
    ASSERT_TRUE(w.fill("open/path", name));
    w->wait_until_idle();
  };
  export_to(path);
  ASSERT_TRUE(w.has("ask/overwrite"));
  ASSERT_TRUE(w.press("Enter"));
  EXPECT_TRUE(w.has("open/path")) << "Enter asks for another name";
  ASSERT_TRUE(w.fill("open/path", path));
  ASSERT_TRUE(w.click("ask/cancel"));
  EXPECT_EQ(io::read_file(path).value_or(""), "mine");
  export_to(path);
  ASSERT_TRUE(w.click("ask/overwrite"));
  w->wait_until_idle();
  EXPECT_NE(io::read_file(path).value_or(""), "mine");
  EXPECT_TRUE(says(w.text("status"), "wrote " + path)) << w.text("status");
  ASSERT_TRUE(w.press("F10"));
  EXPECT_FALSE(says(w.text("status"), "wrote")) << w.text("status");
  export_to(folder + "/not_there/y.csv");
  EXPECT_TRUE(says(w.text("status"), "could not write")) << w.text("status");
  std::filesystem::remove_all(folder);
}

// A copy of a live run's log opens like any other, and an existing file is left alone.
TEST(Export, TheLogOfALiveRun) {
  const std::string path = testing::TempDir() + "exported.db";
  std::filesystem::remove(path);
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  const auto save = [&] {
    ASSERT_TRUE(w.perform("export.log"));
    EXPECT_EQ(w.text("open/path"), "run.db");
    ASSERT_TRUE(w.fill("open/path", path));
    w->wait_until_idle();
  };
  save();
  EXPECT_TRUE(says(w.model().messages().back().text, "wrote " + path))
      << w.model().messages().back().text;
  {
    Workbench copy(path);
    ASSERT_TRUE(copy.model().snapshot()) << copy.model().open_error();
    EXPECT_GT(copy.shot().last_decision, 0u);
    EXPECT_EQ(copy.shot().last_decision, w.shot().last_decision);
  }
  save();
  EXPECT_TRUE(says(w.model().messages().back().text, "exists")) << w.model().messages().back().text;
  std::filesystem::remove(path);
}

std::string log_of_deadlock(const char* name) {
  const std::string path = testing::TempDir() + name;
  std::filesystem::remove(path);
  api::SessionOptions options;
  options.log_path = path;
  api::SessionOpener factory{options};
  auto session = factory.open({.path = "tests/programs/deadlock.hir"});
  EXPECT_TRUE(session && (*session)->execute(*interp::parse_command("continue"), {}));
  return path;
}

TEST(Recorded, ALogOpensAtItsOutcome) {
  const std::string path = log_of_deadlock("outcome.db");
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock) << w.shot().stop.sentence;
  EXPECT_EQ(w.decision(), w.shot().last_decision);
  EXPECT_TRUE(says(w.text("banner"), "deadlock")) << w.text("banner");
  EXPECT_TRUE(w.has("banner/panel.waits"));
  EXPECT_TRUE(w.has("banner/whatif"));
  std::filesystem::remove(path);
}

// A long log shows its end without running; the first move runs the program to it.
TEST(Recorded, ALongLogShowsItsEndFromTheLog) {
  const std::string path = log_of_deadlock("long_outcome.db");
  std::string sentence;
  interp::RankStatus status{};
  uint64_t end = 0;
  {
    Workbench short_log(path);
    sentence = short_log.shot().stop.sentence;
    status = short_log.shot().rank(0).status;
    end = short_log.decision();
  }
  api::SessionOptions options = Workbench::session_options();
  options.max_decisions_to_outcome = 0;
  Workbench w(path, 1600, 1000, "", "", options);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  EXPECT_TRUE(w.shot().from_log);
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock);
  EXPECT_TRUE(says(w.shot().stop.sentence, "rank 1 never came to all_reduce sum f32[4] seq 0"))
      << w.shot().stop.sentence;
  EXPECT_EQ(w.decision(), end);
  EXPECT_EQ(w.shot().rank(0).status, status);
  EXPECT_TRUE(w.has("banner/panel.waits"));
  const auto contents = w.model().worker().session()->read({.value = "y"});
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().diagnostics.front().id, "not_run_yet");

  ASSERT_TRUE(w.perform("focus 1"));
  ASSERT_TRUE(w.perform("break all_reduce"));
  EXPECT_TRUE(w.shot().from_log) << "neither needs the run";
  EXPECT_EQ(w.shot().focus, 1);
  EXPECT_EQ(w.shot().breakpoints->size(), 1u);

  ASSERT_TRUE(w.perform("reverse-step"));
  EXPECT_FALSE(w.shot().from_log);
  EXPECT_LT(w.decision(), end);
  EXPECT_GT(w.decision(), 0u);
  EXPECT_EQ(w.shot().focus, 1);
  ASSERT_TRUE(w.perform("goto end"));
  EXPECT_EQ(w.decision(), end);
  EXPECT_EQ(w.shot().stop.sentence, sentence);
  std::filesystem::remove(path);
}

// The window moves on with the writer, and shows the outcome when it ends.
TEST(Recorded, ALogThatIsBeingWrittenIsFollowed) {
  const std::string path = testing::TempDir() + "followed.db";
  std::filesystem::remove(path);
  api::SessionOptions options;
  options.log_path = path;
  api::SessionOpener factory{options};
  auto writer = factory.open({.path = "tests/programs/deadlock.hir"});
  ASSERT_TRUE(writer);
  const auto execute = [&](const char* command) {
    return (*writer)->execute(*interp::parse_command(command), {}).has_value();
  };
  ASSERT_TRUE(execute("step 3"));
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  const auto wait_until = [&](const std::function<bool()>& done) {
    for (int i = 0; i < 1000 && !done(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      w->step();
    }
    return done();
  };
  EXPECT_TRUE(w.shot().from_log);
  EXPECT_TRUE(wait_until([&] { return w.model().follows_log(); }));
  EXPECT_TRUE(says(w.text("banner"), "is still being recorded")) << w.text("banner");
  const uint64_t before = w.decision();
  ASSERT_TRUE(execute("step 2"));
  EXPECT_TRUE(wait_until([&] { return w.decision() > before; })) << before;
  EXPECT_TRUE(w.model().follows_log());
  ASSERT_TRUE(execute("continue"));
  writer->reset();
  EXPECT_TRUE(wait_until([&] { return w.shot().stop.kind == interp::StopKind::kDeadlock; }));
  w->wait_until_idle(kIdleSeconds);
  EXPECT_FALSE(w.model().follows_log());
  EXPECT_TRUE(says(w.text("banner"), "deadlock")) << w.text("banner");
  std::filesystem::remove(path);
}

TEST(Export, ATableAsCsv) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("sql");
  ASSERT_TRUE(
      w.fill("sql/text", "select id, address from instruction order by id limit 3", "Ctrl+Enter"));
  const std::string path = testing::TempDir() + "exported_sql.csv";
  std::filesystem::remove(path);
  ASSERT_TRUE(w.click("sql/export"));
  ASSERT_TRUE(w.fill("open/path", path));
  const std::string text = io::read_file(path).value_or("");
  EXPECT_TRUE(text.starts_with("id,address\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  std::filesystem::remove(path);
}

// Positions that the run has not reached yet: it runs there, in parts that can be cancelled.
TEST(GotoProgress, AFarPositionIsReachedWithoutRunningFirst) {
  const std::string path =
      write_file("far.hir",
                 "mesh @m = <x=2>\n"
                 "kernel @ones() -> (%v: tensor<4xf32>) {\n"
                 "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
                 "host @far on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n"
                 "  %s = stream \"s\"\n"
                 "  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
                 "  launch @ones wo(%y) on %s\n"
                 "  for %i in 0..8000 {\n"
                 "    %h = alloc on %s : tensor<4xf32>\n"
                 "    free %h on %s\n  }\n"
                 "  return %y\n}\n");
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  ASSERT_TRUE(w.perform("goto 30000"));
  EXPECT_EQ(w.decision(), 30000u) << w.shot().stop.sentence;
  ASSERT_TRUE(w.perform("goto 10"));
  EXPECT_EQ(w.decision(), 10u);
  ASSERT_TRUE(w.perform("goto end"));
  EXPECT_EQ(w.decision(), 30000u);
}

TEST(Find, EveryPlaceWithoutRegardToCase) {
  const auto found = find_all("ab\nxAB ab\n\nAb", "ab");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].line, 1u);
  EXPECT_EQ(found[1].begin, 1u);
  EXPECT_EQ(found[2].begin, 4u);
  EXPECT_EQ(found[3].line, 3u);
  EXPECT_TRUE(find_all("ab", "").empty());
  EXPECT_TRUE(find_all("", "ab").empty());
}

TEST(Find, InTheProgramAndInTheEditor) {
  Workbench w(kMlp);
  w.perform("layout.Step");
  ASSERT_TRUE(w->hover("host_ir/where"));
  ASSERT_TRUE(w.press("Ctrl+F"));
  ASSERT_TRUE(w.has("host_ir/find"));
  w->type("ALL_REDUCE");
  w->wait_until_idle();
  EXPECT_TRUE(says(w.text("host_ir/found"), "1 of ")) << w.text("host_ir/found");
  ASSERT_TRUE(w.press("F3"));
  ASSERT_TRUE(w.press("Esc"));
  w->wait_until_idle();
  EXPECT_FALSE(w.has("host_ir/find"));
  w.only("editor");
  ASSERT_TRUE(w->hover("editor/text"));
  w->step();
  ASSERT_TRUE(w.press("Ctrl+F"));
  w->type("fusion");
  w->wait_until_idle();
  EXPECT_TRUE(says(w.text("editor/found"), " of ")) << w.text("editor/found");
}

}  // namespace
}  // namespace hostir::gui
