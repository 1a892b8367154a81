// Links between panels: phases, selection history, schedule, editor marks, filters, pictures of
// every rank.
#include <set>

#include "gui/panels/program/text_marks.h"
#include "gui/state/selection_history.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::set<std::string> names_with(Workbench& w, const std::string& prefix) {
  std::set<std::string> out;
  for (const auto& [name, rect] : w->app().ui().widgets()) {
    if (name.starts_with(prefix)) out.insert(name.substr(prefix.size()));
  }
  return out;
}

// A line of the fusion highlights the host instructions made from it, and vice versa.
TEST(Phases, AreLinkedInBothDirections) {
  Workbench w(kMlp, 1600, 1000);
  w.perform("layout.Step");
  w->app().tree().move("phases", "layout");
  w->app().tree().show("phases");
  w->wait_until_idle();
  std::string line;
  for (const std::string& n : names_with(w, "phases/line/")) {
    if (w.text("phases/line/" + n).find("linear %g") != std::string::npos) line = n;
  }
  ASSERT_FALSE(line.empty());
  ASSERT_TRUE(w->hover("phases/line/" + line));
  w->step();
  w->step();
  const std::set<std::string> lit = names_with(w, "host_ir/lit/");
  ASSERT_FALSE(lit.empty());
  ASSERT_TRUE(w.click("phases/line/" + line));
  ASSERT_TRUE(w.model().selection.code);
  const std::string here = std::to_string(w.shot().program->lines[*w.model().selection.code]);
  EXPECT_EQ(lit.count(here), 1u) << here;
  EXPECT_EQ(w.model().selection.related.size(), lit.size());
  // In reverse: another instruction made from that fusion line highlights the line.
  w.model().selection = {};
  ASSERT_TRUE(w->hover("host_ir/line/" + *lit.begin()));
  w->step();
  w->step();
  EXPECT_TRUE(w.has("phases/lit/" + line));
}

TEST(SelectionHistory, GoesBackAndForthAndDropsWhatWasAhead) {
  SelectionHistory history;
  const auto code = [](interp::CodeIndex c) {
    Selection s;
    s.code = c;
    return s;
  };
  for (interp::CodeIndex c = 0; c < 3; ++c) {
    history.record(code(c));
    history.record(code(c));
  }
  EXPECT_EQ(history.back()->code, 1u);
  EXPECT_EQ(history.back()->code, 0u);
  EXPECT_FALSE(history.back());
  EXPECT_EQ(history.forward()->code, 1u);
  history.record(code(7));
  EXPECT_FALSE(history.forward());
  EXPECT_EQ(history.back()->code, 1u);
}

TEST(SelectionHistory, KeysSelectWhatWasSelectedBefore) {
  Workbench w(kMlp);
  w.only("host_ir");
  ASSERT_TRUE(w.click("host_ir/line/53"));
  const auto first = w.model().selection.code;
  ASSERT_TRUE(w.click("host_ir/line/55"));
  ASSERT_NE(w.model().selection.code, first);
  ASSERT_TRUE(w.press("Alt+Left"));
  EXPECT_EQ(w.model().selection.code, first);
  ASSERT_TRUE(w.press("Alt+Right"));
  EXPECT_NE(w.model().selection.code, first);
}

TEST(Fault, ItsInstructionIsSelectedWithoutAClick) {
  Workbench w("tests/programs/deadlock.hir");
  EXPECT_FALSE(w.model().selection.code);
  ASSERT_TRUE(w.press("F5"));
  ASSERT_TRUE(w.model().selection.code);
  EXPECT_EQ(w.shot().program->code->address(*w.model().selection.code), "@forgotten#6");
  w.model().selection.code = 0;  // a manual selection stays
  w->wait_until_idle();
  EXPECT_EQ(*w.model().selection.code, 0u);
}

TEST(Schedule, SaysWhoMovedAndWhoCouldHaveAndGoesThere) {
  Workbench w(kMlp);
  w.perform("next");
  w.perform("next");
  w.only("schedule");
  EXPECT_EQ(w.text("schedule/next").front(), 'r');
  ASSERT_TRUE(w.has("schedule/0"));
  EXPECT_NE(w.text("schedule/0/others"), "nobody");
  ASSERT_TRUE(w.click("schedule/1"));
  EXPECT_EQ(w.decision(), 1u);
  // Step a rank that the scheduler would not choose.
  const uint64_t before = w.shot().rank(0).steps;
  w.perform("goto 0");
  ASSERT_TRUE(w.click("schedule/ready/1"));
  EXPECT_EQ(w.shot().rank(1).steps, 1u);
  EXPECT_LE(w.shot().rank(0).steps, before);
}

TEST(Editor, AnErrorIsMarkedAtItsLine) {
  Workbench w(kMlp);
  w.only("editor");
  EXPECT_TRUE(names_with(w, "editor/mark/").empty());
  ASSERT_TRUE(w.click("editor/text"));
  w->press("Ctrl+Home");
  w->type("nonsense\n");
  w->wait_until_idle();
  const auto marks = names_with(w, "editor/mark/");
  ASSERT_FALSE(marks.empty());
  EXPECT_FALSE(w.text("editor/mark/" + *marks.begin()).empty());
  const WidgetRect mark = *w->app().ui().find("editor/mark/" + *marks.begin());
  const WidgetRect field = *w->app().ui().find("editor/text");
  EXPECT_GE(mark.min.y, field.min.y);
  EXPECT_LE(mark.max.y, field.max.y);
}

TEST(Marks, LieInsideTheirLine) {
  SourceManager sources;
  const uint32_t file = sources.add("t", "ab\ncdef\n");
  const auto marks = marks_of({{Severity::kError, "x", "wrong", {file, 5, 400}, {}},
                               {Severity::kError, "x", "elsewhere", {}, {}}},
                              sources, file);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].line, 1u);
  EXPECT_EQ(marks[0].begin, 2u);
  EXPECT_EQ(marks[0].end, 4u);
}

TEST(Ledger, TheFilterNarrowsAndSaysWhatItHides) {
  Workbench w("tests/programs/dp_gradient.hir");
  w.press("F5");
  w.only("ledger");
  const std::string all = w.text("ledger/count");
  ASSERT_NE(all, "0");
  ASSERT_TRUE(w.fill("ledger/filter", "no_such_thing", ""));
  EXPECT_EQ(w.text("ledger/count"), "0");
  w->step();
  EXPECT_FALSE(w->app().ui().hidden().empty());
  ASSERT_TRUE(w.fill("ledger/filter", "r0", ""));
  EXPECT_EQ(w.text("ledger/count"), all);
  ASSERT_TRUE(w.click("ledger/open"));
  EXPECT_EQ(w.text("ledger/count"), "0");
}

TEST(Messages, LevelsAreLeftOut) {
  Workbench w(kMlp);
  w.model().add_message(Message::Kind::kWarning, "be careful");
  w.only("messages");
  ASSERT_TRUE(w.click("messages/level/warnings"));
  w->step();
  const auto& hidden = w->app().ui().hidden();
  EXPECT_TRUE(std::any_of(hidden.begin(), hidden.end(), [](const std::string& h) {
    return h.find("messages") != std::string::npos;
  }));
}

TEST(LayoutPanel, EveryRankIsAPictureAndAClickGoesThere) {
  Workbench w(kMlp);
  w.only("layout");
  ASSERT_TRUE(w.click("layout/each"));
  ASSERT_TRUE(w.click("layout/heat"));
  w->wait_until_idle();
  ASSERT_TRUE(w.has("layout/heat/0"));
  ASSERT_TRUE(w.has("layout/heat/1"));
  EXPECT_EQ(w.text("layout/heat/1"), "shown");
  ASSERT_TRUE(w.click("layout/heat/1"));
  EXPECT_EQ(w.shot().focus, 1);
}

}  // namespace
}  // namespace hostir::gui
