// Commands and conditions: printed ones parse back to themselves; errors point at their location.
#include "interp/session/commands/command.h"

#include <gtest/gtest.h>

#include "interp/session/commands/command_table.h"

namespace hostir::interp {
namespace {

TEST(Command, PrintedTextParsesToTheSameCommand) {
  const char* lines[] = {"break @mlp.host#9",
                         "break %y on 0,2 if rank == 3 && seq >= 10",
                         "tbreak all_reduce#2 on all",
                         "break \"my label\" on tp=1",
                         "break line 12",
                         "break collective if op =~ \"all_*\"",
                         "watch %y[0, 2:5, :] on 4..7",
                         "dprintf all_reduce#1, \"rank {rank}: {%y[0, 1]}\" on 3 if seq > 2",
                         "dprintf mlp.hir:12, \"a \\\"quoted\\\" {{word}}\"",
                         "log mlp.hir:12,\"x\"",
                         "log write %y \"{op == \\\"launch\\\"}\"",
                         "dprintf \"my label\", \"\"",
                         "delete 1 2 3",
                         "condition 2 %y[0, 1] > 0.5",
                         "condition 2",
                         "ignore 1 10",
                         "step 5",
                         "next",
                         "until rendezvous %c",
                         "until nan %y",
                         "reverse-until write %y",
                         "goto 120",
                         "goto end",
                         "rank 3",
                         "rank group dp, tp",
                         "freeze 1..3",
                         "set %y[0, 1] = 3.5 rank 2",
                         "set %y = 2xf32=[1 2]",
                         "info layout %y",
                         "print/e %y[0:2, :] rank all",
                         "print %y global",
                         "x %y rank 1",
                         "print %20 global",  // StableHLO numbers its values
                         "print %20.max",
                         "x/4 %20[0, 2:4] rank 1",
                         "watch %20",
                         "break %20 if max(%20) % 2 == 1",
                         "info layout %20",
                         "backtrace rank 1",
                         "list @f#3",
                         "help step",
                         "quit"};
  for (const char* line : lines) {
    const auto command = parse_command(line);
    ASSERT_TRUE(command) << line << ": " << command.error().message();
    const std::string printed = to_string(*command);
    const auto again = parse_command(printed);
    ASSERT_TRUE(again) << printed << ": " << again.error().message();
    EXPECT_EQ(*command, *again) << line << " -> " << printed;
    EXPECT_EQ(printed, to_string(*again));
  }
}

TEST(Command, EveryCommandAndKeyIsKnown) {
  for (const CommandSpec& spec : command_table()) {
    const auto kind = find_command(spec.name);
    ASSERT_TRUE(kind) << spec.name;
    EXPECT_EQ(*kind, spec.kind);
    for (const std::string_view alias : spec.aliases) {
      const auto aliased = find_command(alias);
      ASSERT_TRUE(aliased) << alias;
      EXPECT_EQ(*aliased, spec.kind) << alias;
    }
    EXPECT_TRUE(help_text(spec.name));
  }
  for (const KeyBinding& key : key_bindings())
    EXPECT_TRUE(parse_command(key.command)) << key.command;
}

TEST(Command, MistakesArePointedAt) {
  const struct {
    const char* line;
    const char* says;
  } cases[] = {{"brake 3", "did you mean \"break\""},
               {"break", "expected a place"},
               {"break #0", "from 1"},
               {"dprintf all_reduce", "expected a text"},
               {"dprintf all_reduce, \"{rank\"", "expected '}'"},
               {"dprintf all_reduce, \"rank}\"", "without its '{'"},
               {"break %y if rank = 3", "unexpected text"},
               {"re", "ambiguous command"},
               {"rank tp", "expected ranks"},
               {"rank 5..2", "not a range"},
               {"print y", "expected a value, as %y"},
               {"info", "expected one of"},
               {"set %y 3", "expected '='"},
               {"step -1", "at least 1"},
               {"condition 1 (rank", "expected ')'"},
               {"condition 1 wait > 3parsecs", "unknown unit"},
               {"condition 1 rank in 3", "expected '{'"}};
  for (const auto& c : cases) {
    const auto command = parse_command(c.line);
    ASSERT_FALSE(command) << c.line;
    EXPECT_EQ(command.error().kind, ErrorKind::kUsage);
    EXPECT_NE(command.error().message().find(c.says), std::string::npos)
        << c.line << "\n"
        << command.error().message();
    EXPECT_NE(command.error().message().find('^'), std::string::npos) << c.line;
  }
}

TEST(Command, AnyTextGivesACommandOrAnError) {
  const std::string alphabet =
      "break dprintf if on %y@f#9[]{}():,<>=!&|\"\\ 0123456789.xetr\n\t\x01\xff";
  uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string line;
    for (int n = 0; n < 24; ++n) {
      state = state * 1664525u + 1013904223u;
      line += alphabet[(state >> 8) % alphabet.size()];
    }
    const auto command = parse_command(line);
    if (command) {
      EXPECT_TRUE(parse_command(to_string(*command))) << line;
    }
  }
  EXPECT_FALSE(parse_command("condition 1 " + std::string(100000, '(')));
  EXPECT_FALSE(parse_command("condition 1 " + std::string(100000, '-')));
  EXPECT_FALSE(parse_command("condition 1 " + std::string(100000, '!')));
}

TEST(Command, CompletionOffersWhatFits) {
  const std::vector<std::string> names = {"%y", "%x"};
  EXPECT_EQ(complete("reverse-s", names), std::vector<std::string>{"reverse-step"});
  EXPECT_EQ(complete("info ra", names), std::vector<std::string>{"info ranks"});
  EXPECT_EQ(complete("print %y", names), std::vector<std::string>{"print %y"});
}

}  // namespace
}  // namespace hostir::interp
