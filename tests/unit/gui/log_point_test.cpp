// Log points in the window, and breakpoints that stop a run once per visit.
#include <fmt/core.h>

#include <filesystem>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

std::vector<std::string> log_lines(Workbench& w) {
  std::vector<std::string> out;
  for (const Message& m : w.model().messages()) {
    if (m.kind == Message::Kind::kLog && m.line) out.push_back(m.text);
  }
  return out;
}

TEST(LogPoints, AreMadeOnALineAndWriteIntoTheMessages) {
  Workbench w(kMlp);
  const int line = line_of(w, "= all_reduce sum");
  ASSERT_TRUE(w.press("F6"));  // scrolls there
  ASSERT_TRUE(w.click(fmt::format("host_ir/line/{}", line), 1));
  ASSERT_TRUE(w.click("host_ir/menu/log"));
  ASSERT_TRUE(w.fill("host_ir/menu/log/text", "seq {seq"));
  EXPECT_TRUE(w.has("host_ir/menu/log/problem"));
  EXPECT_TRUE(w.shot().breakpoints->empty());
  ASSERT_TRUE(w.fill("host_ir/menu/log/text", "seq {seq} \"here\""));
  ASSERT_EQ(w.shot().breakpoints->size(), 1u) << w.text("messages/last");
  EXPECT_TRUE(w.shot().breakpoints->front().logs);
  EXPECT_TRUE(w.has(fmt::format("host_ir/log/{}", line)));
  EXPECT_FALSE(w.has("host_ir/menu/log/text")) << "the menu is closed";

  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
  const std::vector<std::string> lines = log_lines(w);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[1].find("r1 "), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("seq 0 \"here\""), std::string::npos) << lines[1];

  // Back and forth: lines after the position are removed, and none appears twice.
  ASSERT_TRUE(w.perform("goto start"));
  EXPECT_TRUE(log_lines(w).empty());
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(log_lines(w), lines);
  ASSERT_TRUE(w.perform("run"));
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(log_lines(w), lines);
}

TEST(LogPoints, AClickOnALineGoesToItsRankAndInstruction) {
  Workbench w(kMlp);
  w.perform("log all_reduce, \"here\" on 1");
  ASSERT_TRUE(w.press("F5"));
  w.only("messages");
  size_t at = 0;
  while (at < w.model().messages().size() && !w.model().messages()[at].line) ++at;
  ASSERT_TRUE(w.click(fmt::format("messages/log/{}", at)));
  EXPECT_EQ(w.shot().focus, 1);
  ASSERT_TRUE(w.model().selection.code);
  const interp::CodeIndex code = *w.model().selection.code;
  EXPECT_EQ(record(w.shot().program->code->source(code).kind).mnemonic, "all_reduce");
  ASSERT_TRUE(w.click("messages/level/log lines"));
  EXPECT_FALSE(w.has(fmt::format("messages/log/{}", at)));
}

TEST(LogPoints, StandApartAmongTheBreakpointsAndComeBackWithTheFile) {
  const std::string settings =
      (std::filesystem::path(testing::TempDir()) / "hostir_log_points.conf").string();
  std::filesystem::remove(settings);
  const std::string text = "dprintf all_reduce, \"{rank}: {max(%b2)}\" on 1";
  {
    Workbench w(kMlp, 1600, 1000, settings);
    w.only("breaks");
    ASSERT_TRUE(w.fill("breaks/new", "break all_reduce"));
    ASSERT_TRUE(w.fill("breaks/new", text));
    EXPECT_FALSE(w.has("breaks/1/log"));
    EXPECT_EQ(w.text("breaks/2/log"), "log");
    ASSERT_TRUE(w.fill("breaks/2/condition", "seq == 0"));
    EXPECT_EQ(w.shot().breakpoints->back().text, text + " if seq == 0");
  }
  Workbench w(kMlp, 1600, 1000, settings);
  ASSERT_EQ(w.shot().breakpoints->size(), 2u);
  EXPECT_TRUE(w.shot().breakpoints->back().logs);
  EXPECT_EQ(w.shot().breakpoints->back().text, text + " if seq == 0");
  std::filesystem::remove(settings);
}

TEST(LogPoints, TheGutterIsTheBreakpoints) {
  Workbench w(kMlp);
  const int line = line_of(w, "= all_reduce sum");
  w.perform("log all_reduce, \"here\"");
  ASSERT_TRUE(w.press("F6"));
  const std::string gutter = fmt::format("host_ir/gutter/{}", line);
  ASSERT_TRUE(w.click(gutter));
  ASSERT_EQ(w.shot().breakpoints->size(), 2u);
  ASSERT_TRUE(w.click(gutter));
  ASSERT_EQ(w.shot().breakpoints->size(), 1u);
  EXPECT_TRUE(w.shot().breakpoints->front().logs);
}

TEST(Breakpoints, OneKeyPassesALineForAllRanks) {
  Workbench w(kMlp);
  w.perform("break all_reduce");
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kBreakpoint);
  EXPECT_NE(w.shot().stop.sentence.find("the first of 2 ranks"), std::string::npos)
      << w.shot().stop.sentence;
  const uint64_t at = w.decision();
  ASSERT_TRUE(w.press("F5"));
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kFinished);
  EXPECT_EQ(w.shot().breakpoints->front().hits, 2);
  ASSERT_TRUE(w.press("Shift+F5"));
  EXPECT_EQ(w.decision(), at);
  EXPECT_EQ(w.shot().breakpoints->front().hits, 1);
}

}  // namespace
}  // namespace hostir::gui
