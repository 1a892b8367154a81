// Secondary tools: SQL tables, phases side by side, editor errors, keys, heat maps of large
// tensors, the history scrubber.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Sql, ItsTablesAreThereToClick) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("sql");
  ASSERT_TRUE(w.has("sql/table/v_collectives"));
  ASSERT_TRUE(w.has("sql/table/event"));
  ASSERT_TRUE(w.click("sql/table/v_collectives"));
  EXPECT_NE(w.text("sql/text").find("from v_collectives"), std::string::npos);
  EXPECT_EQ(w.text("sql/count"), "1 row");  // one all_reduce
  ASSERT_TRUE(w.click("sql/bars"));
  EXPECT_EQ(w.text("sql/bars"), "on");
}

// The computed table equals the view, also for sends, groups, several communicators and hangs.
TEST(Sql, CollectivesAreThoseOfTheView) {
  const std::string columns =
      "communicator, group_index, sequence, kind, reduction, dtype, count, bytes, arrived, "
      "member_count, first_arrival_ns, last_arrival_ns, skew_ns, start_ns, finish_ns, duration_ns, "
      "algbw_bytes_per_s, busbw_bytes_per_s, address, group_address";
  for (const char* program : {"pipeline_by_hand", "fsdp_tp", "overlap", "deadlock"}) {
    Workbench w(std::string("tests/programs/") + program + ".hir");
    ASSERT_TRUE(w.press("F5"));
    ask(w, [&](const interp::LogView& log, std::stop_token) {
      const std::string quick = "select " + columns + " from collectives";
      const std::string view = "select " + columns + " from v_collectives";
      const auto count = log.query("select count(*) from v_collectives");
      EXPECT_EQ(count->rows, log.query("select count(*) from collectives")->rows) << program;
      EXPECT_NE(count->rows[0][0], interp::LogCell(int64_t{0})) << program;
      for (const std::string& differ : {quick + " except " + view, view + " except " + quick}) {
        const auto rows = log.query(differ);
        ASSERT_TRUE(rows) << program << ": " << rows.error().message();
        EXPECT_TRUE(rows->rows.empty()) << program << ": " << rows->rows.size();
      }
    });
  }
}

// As in `print` of a terminal: a function of a tensor, and the percent sign may be left out.
TEST(Watches, AreTheExpressionsOfPrint) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("watches");
  for (const char* text : {"max(%y) - min(%y)", "%y.max", "y[0, 1, 2]", "y.sum"}) {
    ASSERT_TRUE(w.fill("watches/new", text));
    EXPECT_FALSE(w.has("watches/error")) << text << ": " << w.text("watches/error");
  }
  EXPECT_EQ(w.model().watches,
            (std::vector<std::string>{"max(%y) - min(%y)", "%y.max", "%y[0, 1, 2]", "%y.sum"}));
}

// A long sentence wraps, and no check box is outside a narrow panel.
TEST(Messages, AreWholeInANarrowPanel) {
  Workbench w(kMlp, 1280, 720);
  ASSERT_TRUE(w.perform("panel.messages"));
  w.model().add_message(Message::Kind::kWarning, std::string(40, 'a') + " " + std::string(40, 'b') +
                                                     " " + std::string(40, 'c'));
  w->wait_until_idle();
  const WidgetRect* leaf = w->app().ui().find("leaf/messages");
  ASSERT_TRUE(leaf);
  int shown = 0;
  for (const auto& [name, rect] : w->app().ui().widgets()) {
    if (!name.starts_with("messages/")) continue;
    ++shown;
    EXPECT_LE(rect.max.x, leaf->max.x) << name;
  }
  EXPECT_GT(shown, 6);
}

// Text columns shrink, so that a narrow panel shows the requested numbers.
TEST(Sql, NumbersAreInViewInANarrowPanel) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  ASSERT_TRUE(w.perform("panel.sql"));
  ASSERT_TRUE(w.fill("sql/text",
                     "select i.address, i.text, count(*) as n from event e join instruction i on "
                     "i.id = e.instruction group by 1",
                     "Ctrl+Enter"));
  const WidgetRect* number = w->app().ui().find("sql/0/2");
  const WidgetRect* leaf = w->app().ui().find("leaf/sql");
  ASSERT_TRUE(number && leaf) << w.text("sql/text");
  EXPECT_LT(number->max.x, leaf->max.x);
  EXPECT_EQ(w.text("sql/0/2"), "2") << "both ranks";
}

TEST(Sql, AWrongNameIsAnsweredWithTheRightOne) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("F5"));
  w.only("sql");
  ASSERT_TRUE(w.fill("sql/text", "select * from evnt", "Ctrl+Enter"));
  ASSERT_TRUE(w.click("sql/run"));
  EXPECT_NE(w.text("sql/error").find("did you mean \"event\"?"), std::string::npos)
      << w.text("sql/error");
  Workbench narrow(kMlp);  // without the tables beside the query
  ASSERT_TRUE(narrow.press("F5"));
  ASSERT_TRUE(narrow.perform("panel.sql"));
  ASSERT_TRUE(narrow.fill("sql/text", "select * from evnt", "Ctrl+Enter"));
  EXPECT_TRUE(says(narrow.text("sql/error"), "did you mean \"event\"?"))
      << narrow.text("sql/error");
}

TEST(Phases, TwoStandSideBySideAndOneOriginIsLitInBoth) {
  Workbench w(kMlp);
  w.only("phases");
  EXPECT_FALSE(w.has("phases/other/line/1"));
  ASSERT_TRUE(w.click("phases/beside"));
  ASSERT_TRUE(w.has("phases/other/line/1"));
  w.model().selection.value = "h";
  w->wait_until_idle(30);
  bool left = false;
  bool right = false;
  for (const auto& [name, rect] : w->app().ui().widgets()) {
    left = left || name.starts_with("phases/lit/");
    right = right || name.starts_with("phases/other/lit/");
  }
  EXPECT_TRUE(left);
  ASSERT_TRUE(w.click("phases/other/bound"));
  for (const auto& [name, rect] : w->app().ui().widgets())
    right = right || name.starts_with("phases/other/lit/");
  EXPECT_TRUE(right);
}

TEST(Editor, AnErrorIsALineThatOneGoesTo) {
  const std::string path = testing::TempDir() + "long.hir";
  {
    std::ofstream out(path);
    out << "mesh @m = <x=2>\n";
    for (int i = 0; i < 200; ++i) out << "// line " << i << "\n";
    out << "host @f on @m () -> () {\n  %s = stream \"main\"\n  return\n}\n";
  }
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  w.only("editor");
  ASSERT_TRUE(w.click("editor/text"));
  w.press("Ctrl+End");
  w->type("bogus");
  w->wait_until_idle(30);
  ASSERT_TRUE(w.has("editor/diagnostic/0")) << w.text("editor/diagnostics");
  EXPECT_NE(w.text("editor/diagnostic/0").find("bogus"), std::string::npos);
  w.press("Ctrl+Home");
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("editor/diagnostic/0"));
  w->step();
  const WidgetRect* mark = w->app().ui().find("editor/mark/206");
  const WidgetRect* field = w->app().ui().find("editor/text");
  ASSERT_TRUE(mark && field);
  EXPECT_GE(mark->min.y, field->min.y);
  EXPECT_LE(mark->max.y, field->max.y);
  std::filesystem::remove(path);
}

TEST(Help, FindsAKeyByWhatItDoes) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.press("?"));
  ASSERT_TRUE(w.has("help/filter"));
  ASSERT_TRUE(w.fill("help/filter", "rendezvous", ""));
  EXPECT_EQ(w.text("help/filter"), "rendezvous");
  ASSERT_TRUE(w.press("Esc"));
  EXPECT_FALSE(w.has("help"));
}

TEST(LayoutPanel, ALargeTensorIsAPictureOfMeans) {
  const std::string path = testing::TempDir() + "large.hir";
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "fusion @f(%a: tensor<64x512xf32> <@m, [{x}, {}]>)\n"
                         "    -> (%y: tensor<64x512xf32> <@m, [{x}, {}]>) {\n"
                         "  %y = relu %a\n  return %y\n}\n";
  Workbench w(path);
  w.only("layout");
  w.model().selection.value = "a";
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("layout/heat"));
  EXPECT_NE(w.text("layout/coarse").find("the mean of about"), std::string::npos);
  EXPECT_EQ(w.text("status/hidden").find("colours"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(LayoutPanel, ThePictureOfMeansIsOfThisPosition) {
  const std::string path = testing::TempDir() + "steps_of_large.hir";
  std::ofstream(path) << "mesh @m = <x=1>\n"
                         "kernel @one() -> (%v: tensor<64x512xf32>) {\n"
                         "  %v = constant {value = 1} : tensor<64x512xf32>\n  return %v\n}\n"
                         "kernel @seven() -> (%v: tensor<64x512xf32>) {\n"
                         "  %v = constant {value = 7} : tensor<64x512xf32>\n  return %v\n}\n"
                         "host @f on @m () -> (%y: shard<64x512xf32, @m, [{}, {}]>) {\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<64x512xf32, @m, [{}, {}]>\n"
                         "  %e = launch @one wo(%y) on %s\n  wait %e on host\n"
                         "  %g = launch @seven wo(%y) on %s\n  wait %g on host\n"
                         "  return %y\n}\n";
  Workbench w(path);
  ASSERT_TRUE(w.model().snapshot()) << w.model().open_error();
  w.only("layout");
  ASSERT_TRUE(w.perform("next 4"));
  w.model().selection.value = "y";
  w->wait_until_idle(30);
  ASSERT_TRUE(w.click("layout/heat"));
  EXPECT_NE(w.text("layout/coarse").find("1 .. 1"), std::string::npos) << w.text("layout/coarse");
  ASSERT_TRUE(w.perform("next 2"));
  w->wait_until_idle(30);
  EXPECT_NE(w.text("layout/coarse").find("7 .. 7"), std::string::npos) << w.text("layout/coarse");
  std::filesystem::remove(path);
}

TEST(Position, AtTheStartOfNothingTheKnobGoesNowhere) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.has("position/slider"));
  w.click("position/slider");
  EXPECT_EQ(w.decision(), 0u);
}

}  // namespace
}  // namespace hostir::gui
