// Commands for log points and for breakpoints that stop once per visit.
#include <gtest/gtest.h>

#include "interp/session/expressions/log_text.h"
#include "live_run.h"

namespace hostir::interp {
namespace {

class Steered {
 public:
  explicit Steered(int64_t ranks = 3) {
    session_ = open(
        "tests/programs/tp_mlp.hir", "mlp",
        {generated("x", "normal(1, 1x3x4xf32)"), generated("w1", "normal(2, 5x4xf32)"),
         generated("b1", "normal(3)"), generated("w2", "normal(4)"), generated("b2", "normal(5)")},
        ranks);
  }

  Outcome run(const std::string& line) {
    const auto command = parse_command(line);
    EXPECT_TRUE(command) << line << ": " << command.error().message();
    auto outcome = session_->execute(*command, std::stop_token());
    EXPECT_TRUE(outcome) << line << ": " << (outcome ? "" : outcome.error().message());
    return outcome ? *outcome : Outcome{};
  }
  std::string refusal(const std::string& line) {
    const auto command = parse_command(line);
    if (!command) return command.error().message();
    const auto outcome = session_->execute(*command, std::stop_token());
    return outcome ? "" : outcome.error().message();
  }
  int stops(const std::string& command) {
    int n = 0;
    while (run(command).stop.kind == StopKind::kBreakpoint) ++n;
    return n;
  }
  const Snapshot& shot() { return *session_->snapshot(); }

 private:
  std::unique_ptr<LiveSession> session_;
};

std::string filled(const std::string& text) {
  const auto parsed = parse_log_text(text);
  EXPECT_TRUE(parsed) << text;
  return fill(
      *parsed,
      [](const Expression& leaf, const std::vector<SliceRange>&) -> Expected<ExpressionValue> {
        if (leaf.text == "seq") return ExpressionValue(int64_t{7});
        if (leaf.text == "half") return ExpressionValue(0.1f * 1.0);
        return fail(ErrorKind::kUsage, "condition", "not here");
      });
}

TEST(LogText, WordsAndWhatIsAsked) {
  EXPECT_EQ(filled("seq {seq}, next {seq + 1}"), "seq 7, next 8");
  EXPECT_EQ(filled("{{seq}} {seq in {6, 7}}"), "{seq} 1");
  EXPECT_EQ(filled("{half} {other}!"), "0.1 <not here>!");
  EXPECT_EQ(filled(""), "");
  for (const char* wrong : {"{seq", "seq}", "{}", "{seq 3}"}) EXPECT_FALSE(parse_log_text(wrong));
}

TEST(LogPoints, WriteALinePerRankAndLetTheRunGoOn) {
  Steered s;
  EXPECT_EQ(s.run("log all_reduce, \"seq {seq}, {bytes} bytes\"").text.substr(0, 11),
            "Log point 1");
  const Outcome end = s.run("continue");
  EXPECT_EQ(end.stop.kind, StopKind::kFinished);
  ASSERT_EQ(end.logged.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(end.logged[i].text, "seq 0, 48 bytes");
    EXPECT_EQ(end.logged[i].rank, static_cast<Rank>(i));
  }
  EXPECT_EQ(s.shot().breakpoints->front().hits, 3);
  EXPECT_TRUE(s.shot().breakpoints->front().logs);
  const Outcome back = s.run("goto start");
  EXPECT_TRUE(back.logged.empty());
  EXPECT_EQ(back.log_from, 0u);
  EXPECT_EQ(s.shot().breakpoints->front().hits, 0);
  EXPECT_EQ(s.run("goto end").logged, end.logged);
  EXPECT_EQ(s.run("run").logged, end.logged);
}

TEST(LogPoints, RanksConditionsAndIgnore) {
  Steered s;
  s.run("dprintf all_reduce, \"{rank}\" on 0,2 if rank != 0");
  ASSERT_EQ(s.run("continue").logged.size(), 1u);
  s.run("goto start");
  s.run("condition 1");
  s.run("ignore 1 1");
  const Outcome end = s.run("continue");
  ASSERT_EQ(end.logged.size(), 1u);
  EXPECT_EQ(end.logged[0].text, "2");
}

TEST(LogPoints, WhatCannotBeAnsweredIsSaid) {
  Steered s;
  s.run("dprintf #5, \"{max(%g)} {%w1[0, 0]}\" on 1");
  const Outcome end = s.run("continue");
  ASSERT_EQ(end.logged.size(), 1u);
  EXPECT_EQ(end.logged[0].text,
            "<%g is not written on rank 1 yet> <rank 1 does not hold %w1[0, 0]>");
  EXPECT_NE(s.refusal("dprintf all_reduce, \"{max(%nothing)}\"").find("no value %nothing"),
            std::string::npos);
  EXPECT_NE(s.refusal("dprintf all_reduce, \"{%y}\"").find("is a tensor"), std::string::npos);
  EXPECT_NE(s.refusal("dprintf all_reduce, \"{seq\"").find("expected '}'"), std::string::npos);
  EXPECT_NE(s.refusal("dprintf all_reduce").find("expected a text"), std::string::npos);
}

TEST(Breakpoints, StopOncePerVisitUnlessTheyTellRanksApart) {
  const struct {
    const char* line;
    int stops;
  } cases[] = {{"break all_reduce", 1},
               {"break collective if comm == \"c\"", 1},
               {"break all_reduce if iteration < 3 && op =~ \"all_*\"", 1},
               {"break all_reduce on all", 3},
               {"break all_reduce on 1,2", 2},
               {"break all_reduce if rank >= 0", 3},
               {"break all_reduce if coord(tp) < 2", 2},
               {"break all_reduce if seq == 0", 3}};
  for (const auto& c : cases) {
    Steered s;
    s.run(c.line);
    EXPECT_EQ(s.stops("continue"), c.stops) << c.line;
    EXPECT_EQ(s.stops("reverse-continue"), c.stops) << c.line;
  }
}

TEST(Breakpoints, AConditionChangesWhoStops) {
  Steered s;
  s.run("break all_reduce");
  s.run("condition 1 rank >= 0");
  EXPECT_EQ(s.stops("continue"), 3);
  s.run("condition 1");
  EXPECT_EQ(s.stops("reverse-continue"), 1);
  EXPECT_EQ(s.stops("continue"), 1);
}

TEST(Breakpoints, ANarrowedScopeStopsAtItsOwnVisits) {
  Steered s;
  s.run("break all_reduce");
  s.run("rank 2");
  Outcome stop = s.run("continue");
  EXPECT_EQ(stop.stop.rank, 0);
  EXPECT_NE(stop.stop.sentence.find("the first of 3 ranks"), std::string::npos);
  stop = s.run("continue");
  EXPECT_EQ(stop.stop.rank, 2);
  EXPECT_NE(stop.stop.sentence.find("2 of 3 ranks are past it"), std::string::npos)
      << stop.stop.sentence;
  EXPECT_EQ(s.run("continue").stop.kind, StopKind::kFinished);
}

}  // namespace
}  // namespace hostir::interp
