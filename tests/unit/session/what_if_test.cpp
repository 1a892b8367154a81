// "What if" finds a small edit that lets a hanging program complete, or says clearly that none
// does.
#include "interp/session/what_if/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "hostir/io/files.h"
#include "hostir/text/parse/parser.h"
#include "interp/session/live/live_session.h"
#include "interp/session/what_if/what_if_edits.h"
#include "live_run.h"

namespace hostir::interp {
namespace {

struct Stuck {
  SourceManager sources;
  std::shared_ptr<const Prepared> prepared;
  std::unique_ptr<LiveSession> session;
};

// Runs until it hangs.
std::unique_ptr<Stuck> run_text(const std::string& name, const std::string& text,
                                const std::string& function, std::vector<Rank> ranks = {},
                                const std::string& before = {}) {
  auto out = std::make_unique<Stuck>();
  const uint32_t file = out->sources.add(name, text);
  const text::ParsedFile parsed = text::parse(out->sources, file);
  EXPECT_TRUE(parsed.ok()) << render(parsed.diagnostics, out->sources);
  for (const Program& part : parsed.file.parts) {
    if (!part.find_function(function)) continue;
    PrepareOptions options;
    options.function = function;
    options.sources = &out->sources;
    auto prepared = prepare(part, {}, options);
    EXPECT_TRUE(prepared) << prepared.error().message();
    out->prepared = *prepared;
    break;
  }
  LiveOptions live;
  live.backend.machine = *find_builtin_machine("h200x8");
  live.ranks = std::move(ranks);
  auto session = LiveSession::create(out->prepared, make_sim, live);
  EXPECT_TRUE(session) << session.error().message();
  out->session = std::move(*session);
  if (!before.empty()) {
    EXPECT_TRUE(out->session->execute(*parse_command(before), {}));
  }
  EXPECT_TRUE(out->session->execute(*parse_command("continue"), {}));
  return out;
}

WhatIf ask(const Stuck& stuck, const WhatIfOptions& options = {}) {
  const auto found = stuck.session->what_if(*stuck.session->snapshot(), options);
  EXPECT_TRUE(found) << found.error().message();
  return found ? *found : WhatIf{};
}

std::string read(const std::string& path) {
  const auto text = io::read_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

// The smallest edit that completes; empty if there is none.
std::string best(const std::string& path, const std::string& function) {
  const auto stuck = run_text(path, read(path), function);
  const WhatIf found = ask(*stuck);
  EXPECT_TRUE(found.of_given);
  return found.completes > 0 ? found.trials.front().edit.sentence : std::string();
}

// Verifies the answer: the edited text, opened as by a user, runs to the end.
void expect_completes(const std::string& text, const std::string& function) {
  const auto again = run_text("edited.hir", text, function);
  const Snapshot& shot = *again->session->snapshot();
  EXPECT_TRUE(again->session->interpreter().finished()) << shot.stop.sentence << "\n" << text;
  // The scripts do not free everything they allocate; those leaks are not new.
  for (const FaultSnapshot& fault : *shot.faults) EXPECT_EQ(fault.kind, "leak") << fault.sentence;
}

// What is proposed first for every program of these files: tests/scripts/stuck/what_if.txt.
TEST(WhatIf, EveryStuckProgram) {
  std::string found;
  for (const char* path :
       {"tests/scripts/stuck/deadlocks.hir", "tests/scripts/stuck/mismatches.hir",
        "tests/programs/deadlock.hir", "tests/scripts/regress/long_circle.hir",
        "tests/scripts/regress/every_cause_of_a_deadlock.hir"}) {
    const auto program = text::parse_program(read(path));
    ASSERT_TRUE(program) << path << ": " << program.error().message();
    found += std::string(path) + "\n";
    for (const Function& f : program->functions) {
      if (f.kind != FunctionKind::kHost) continue;
      const std::string edit = best(path, f.name);
      EXPECT_FALSE(edit.empty()) << path << " @" << f.name << ": no edit lets it complete";
      found += "  @" + f.name + ": " + edit + "\n";
    }
  }
  const std::string list = "tests/scripts/stuck/what_if.txt";
  if (std::getenv("HOSTIR_UPDATE") != nullptr) {
    EXPECT_TRUE(io::write_file(list, found));
  }
  EXPECT_EQ(read(list), found) << "HOSTIR_UPDATE=1 rewrites it";
}

// Mistakes that no script in the repository makes.
std::string four_ranks(const std::string& body) {
  return "mesh @m = <x=4>\nkernel @ones() -> (%v: tensor<4xf32>) {\n"
         "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
         "host @h on @m () -> (%y: tensor<4xf32>) {\n  %c = comm over {x}\n"
         "  %d = comm over {x}\n  %s = stream \"main\"\n  %y = alloc on %s : tensor<4xf32>\n"
         "  launch @ones wo(%y) on %s\n" +
         body + "  return %y\n}\n";
}

std::string best_of(const std::string& body) {
  const std::string text = four_ranks(body);
  const auto stuck = run_text("four.hir", text, "h");
  const WhatIf found = ask(*stuck);
  if (found.completes == 0) return found.conclusion;
  expect_completes(found.trials.front().edit.text, "h");
  return found.trials.front().edit.sentence;
}

TEST(WhatIf, OtherMistakes) {
  // Putting a recv into %y in one group with the send of %y would be a race, so it is not proposed.
  EXPECT_EQ(best_of("  send %c peer((coord(x) + 1) % 4) ro(%y) on %s\n"),
            "Leave out send %c (line 12), which ranks 0..3 called.");
  EXPECT_EQ(best_of("  %a = alloc on %s : tensor<4xf32>\n  group {\n"
                    "    send %c peer((coord(x) + 1) % 4) ro(%y) on %s\n"
                    "    recv %c peer((coord(x) + 1) % 4) wo(%a) on %s\n  }\n"
                    "  free %a on %s\n"),
            "Write peer((coord(x) + 3) % 4) instead of peer((coord(x) + 1) % 4) in line 14.");
  EXPECT_EQ(best_of("  where rank == 3 {\n    all_reduce sum %d rw(%y) on %s\n  } else {\n"
                    "    all_reduce sum %c rw(%y) on %s\n  }\n"),
            "Write %c instead of %d in line 13, as in line 15.");
}

// The mistake may be a wait, the event passed to the next iteration, or a loop's bounds.
TEST(WhatIf, RacesAndTrips) {
  const std::string other = "  %t = stream \"other\"\n";
  EXPECT_EQ(best_of(other + "  %e = launch @ones wo(%y) on %s\n  all_reduce sum %c rw(%y) on %t\n"),
            "Let all_reduce sum %c (line 14) wait for launch @ones (line 13).");
  EXPECT_EQ(best_of(other + "  %e = launch @ones wo(%y) on %s\n  wait %e on %s\n"
                            "  all_reduce sum %c rw(%y) on %t\n"),
            "Let all_reduce sum %c (line 15) wait for launch @ones (line 13): `wait %e on %t` in "
            "line 14.");
  EXPECT_EQ(best_of(other + "  %b = alloc on %s : tensor<4xf32>\n  %e = launch @ones wo(%b) on %s\n"
                            "  wait %e on %t\n  all_reduce sum %c rw(%b) on %t\n  free %b on %s\n"),
            "Let free %b (line 17) wait for all_reduce sum %c (line 16).");
  EXPECT_EQ(best_of(other + "  %last = for %i in 0..3 carry(%p = none) {\n    wait %p on %s\n"
                            "    %e = launch @ones wo(%y) on %s\n    wait %e on %t\n"
                            "    %r = all_reduce sum %c rw(%y) on %t\n    yield %e\n  }\n"),
            "Carry %r of all_reduce sum %c (line 17) to the next iteration instead of %e.");
  EXPECT_EQ(best_of("  group {\n    all_reduce sum %c rw(%y) on %s\n"
                    "    all_reduce max %c rw(%y) on %s\n  }\n"),
            "Call all_reduce max %c (line 14) after its group.");
  EXPECT_EQ(best_of("  where rank == 0 {\n    for %i in 0..3 {\n"
                    "      send %c peer(1) ro(%y) on %s\n    }\n  }\n  where rank == 1 {\n"
                    "    for %i in 0..2 {\n      recv %c peer(0) wo(%y) on %s\n    }\n  }\n"),
            "Write 0..2 instead of 0..3 in line 13, as in line 18.");
  // One rank makes an extra call: the edit must change this rank, not the three others.
  EXPECT_EQ(best_of("  where rank == 2 {\n    all_reduce sum %c rw(%y) on %s\n  }\n"),
            "Leave out all_reduce sum %c (line 13), which rank 2 called.");
}

// The ranks that make the call are not the ranks that lack its counterpart.
TEST(WhatIf, TheOtherHalfIsAddedWhereItIsMissing) {
  const std::string text = four_ranks(
      "  where coord(x) != 1 {\n    send %c peer((coord(x) + 1) % 4) ro(%y) on %s\n  }\n");
  const WhatIf found = ask(*run_text("four.hir", text, "h"));
  ASSERT_GT(found.completes, 0u);
  const auto added =
      std::find_if(found.trials.begin(), found.trials.end(), [](const WhatIfTrial& trial) {
        return trial.edit.sentence ==
               "Add the recv that send %c (line 13) waits for on ranks 0, 1, 3, after lines "
               "12-14.";
      });
  ASSERT_NE(added, found.trials.end());
  EXPECT_EQ(added->verdict, WhatIfTrial::Verdict::kCompletes) << added->why;
  expect_completes(added->edit.text, "h");
}

// The intermediate text is never shown: the second edit uses line numbers of the file.
TEST(WhatIf, ASecondEditCountsTheLinesOfTheFile) {
  const std::string text = four_ranks(
      "  %p = alloc on %s : tensor<4xf32>\n  for %i in 0..3 {\n    where coord(x) == 0 {\n"
      "      all_reduce sum %c ro(%y) wo(%p) on %s\n    }\n"
      "    all_reduce max %c ro(%y) wo(%p) on %s\n  }\n"
      "  where coord(x) == 1 {\n    send %c peer(0) ro(%y) on %s\n  }\n  free %p on %s\n");
  const WhatIf found = ask(*run_text("four.hir", text, "h"));
  ASSERT_GT(found.completes, 0u);
  std::map<std::string, size_t> second;
  for (size_t i = 0; i < found.completes; ++i) {
    const WhatIfEdit& edit = found.trials[i].edit;
    const size_t then = edit.sentence.find(" Then: ");
    ASSERT_NE(then, std::string::npos) << edit.sentence;
    ++second[edit.sentence.substr(then + 7)];
    EXPECT_TRUE(edit.origins.empty());
  }
  EXPECT_GT(second["Leave out send %c (line 20), which rank 1 called."], 0u);
  EXPECT_GT(second["Add the recv on rank 0 that send %c (line 20) waits for, after lines 19-21."],
            0u);
  for (const auto& [sentence, times] : second) {
    if (times > 0) {
      EXPECT_NE(sentence.find("(line 20)"), std::string::npos) << sentence;
    }
  }
  for (const WhatIfTrial& trial : found.trials) {
    if (!trial.why.empty()) {
      EXPECT_EQ(trial.why.find(" (line 20)"), std::string::npos) << trial.why;
    }
  }
}

TEST(WhatIf, LinesOfATextThatAnEditMade) {
  const std::string text = four_ranks("  all_reduce sum %c rw(%y) on %s\n");
  LineEdit edit(split_lines(text));
  edit.insert(11, {"  all_reduce max %c rw(%y) on %s", "  where coord(x) == 0 {"});
  edit.indent({11, 11}, 2).insert(12, {"  }"});
  const auto program = what_if_parts::EditableProgram::create(edit.text(), "h", edit.origins());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->where_line(11), "line 12 after the first edit");
  EXPECT_EQ(program->where({12, 14}), "lines 13-15 after the first edit");
  EXPECT_EQ(program->where_line(13), "line 12");
  EXPECT_EQ(program->where_line(15), "line 13");
}

// Leaks that exist without the edit are not reported as its warnings.
TEST(WhatIf, LeaksAreSaidWhereAnEditBringsThem) {
  const std::string path = "tests/programs/deadlock.hir";
  const WhatIf crossed = ask(*run_text(path, read(path), "crossed"));
  ASSERT_GT(crossed.completes, 0u);
  for (size_t i = 0; i < crossed.completes; ++i) EXPECT_TRUE(crossed.trials[i].good()) << i;
  EXPECT_EQ(crossed.leaks, "With or without an edit nothing frees %a (line 31).");
  EXPECT_NE(to_text(crossed).find(crossed.leaks), std::string::npos);

  const std::string text = four_ranks(
      "  %a = alloc on %s : tensor<4xf32>\n  for %i in 0..3 + coord(x) / 3 {\n"
      "    all_reduce sum %c rw(%y) on %s\n"
      "    where %i == 2 + coord(x) / 3 {\n      free %a on %s\n    }\n  }\n");
  const WhatIf found = ask(*run_text("four.hir", text, "h"));
  bool longer = false;
  for (size_t i = 0; i < found.completes; ++i) {
    const WhatIfTrial& trial = found.trials[i];
    if (trial.edit.sentence.find("Write 3 instead of 3 + coord(x) / 3") != 0) continue;
    longer = true;
    ASSERT_EQ(trial.warnings.size(), 1u);
    EXPECT_NE(trial.warnings.front().find("rank 3: %a of 16 bytes"), std::string::npos)
        << trial.warnings.front();
  }
  EXPECT_TRUE(longer) << to_text(found);
  EXPECT_EQ(found.leaks, "");
}

TEST(WhatIf, FrozenRanksAreNamed) {
  const std::string good = four_ranks("  all_reduce sum %c rw(%y) on %s\n");
  const auto held = run_text("four.hir", good, "h", {}, "freeze 1");
  ASSERT_EQ(held->session->snapshot()->stop.kind, StopKind::kNobodyMoves);
  EXPECT_TRUE(can_ask_what_if(*held->session->snapshot()));
  const WhatIf answer = ask(*held);
  EXPECT_TRUE(answer.unchanged_completes);
  EXPECT_NE(answer.conclusion.find("`thaw` lets rank 1 move again."), std::string::npos)
      << answer.conclusion;
  EXPECT_NE(answer.stop.find("Nobody can move"), std::string::npos) << answer.stop;

  // It hangs even without the freeze.
  const std::string stuck =
      four_ranks("  where coord(x) == 0 {\n    all_reduce sum %c rw(%y) on %s\n  }\n");
  const WhatIf edits = ask(*run_text("four.hir", stuck, "h", {}, "freeze 1"));
  EXPECT_GT(edits.completes, 0u);
  EXPECT_NE(edits.conclusion.find("here rank 1 is frozen (`thaw`)"), std::string::npos)
      << edits.conclusion;
}

TEST(WhatIf, EveryEditThatIsSaidToCompleteDoes) {
  for (const char* function : {"ring_of_sends", "crossed_communicators", "recv_without_send"}) {
    const auto stuck =
        run_text("deadlocks.hir", read("tests/scripts/stuck/deadlocks.hir"), function);
    const WhatIf found = ask(*stuck);
    ASSERT_GT(found.completes, 1u) << function;
    for (size_t i = 0; i < found.completes; ++i)
      expect_completes(found.trials[i].edit.text, function);
    for (size_t i = found.completes; i < found.trials.size(); ++i)
      EXPECT_FALSE(found.trials[i].why.empty()) << found.trials[i].edit.sentence;
  }
}

// A frozen rank is not a mistake of the program; the hang without the freeze is a different one.
TEST(WhatIf, ARankThatNeverStartsIsLetGoFirst) {
  const std::string text = read("tests/scripts/stuck/deadlocks.hir");
  const auto stuck = run_text("deadlocks.hir", text, "one_iteration_too_many", {0, 1});
  const WhatIf found = ask(*stuck);
  EXPECT_FALSE(found.unchanged_completes);
  ASSERT_GT(found.completes, 0u);
  expect_completes(found.trials.front().edit.text, "one_iteration_too_many");

  const std::string good =
      "mesh @m = <x=2>\nkernel @ones() -> (%v: tensor<4xf32>) {\n"
      "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
      "host @h on @m () -> (%y: shard<4xf32, @m, [{}]>) {\n  %c = comm over {x}\n"
      "  %s = stream \"main\"\n  %y = alloc on %s : shard<4xf32, @m, [{}]>\n"
      "  launch @ones wo(%y) on %s\n  all_reduce sum %c rw(%y) on %s\n  return %y\n}\n";
  const auto held = run_text("good.hir", good, "h", {0});
  ASSERT_EQ(held->session->snapshot()->stop.kind, StopKind::kDeadlock);
  const WhatIf answer = ask(*held);
  EXPECT_TRUE(answer.unchanged_completes);
  EXPECT_TRUE(answer.trials.empty());
}

// Five independent mistakes: two edits are not enough.
TEST(WhatIf, SaysThatNoSmallEditHelps) {
  std::string body;
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    body += "  %e" + n + " = alloc on %s : tensor<4xf32>\n  launch @ones wo(%e" + n + ") on %s\n";
    body += "  where coord(x) == 0 {\n    all_reduce sum %c rw(%e" + n + ") on %s\n" +
            "    launch @ones wo(%e" + n + ") on %s\n    all_reduce max %c rw(%e" + n +
            ") on %s\n  } else {\n    all_reduce min %c rw(%e" + n +
            ") on %s\n    launch @ones wo(%e" + n + ") on %s\n    all_reduce prod %c rw(%e" + n +
            ") on %s\n  }\n  free %e" + n + " on %s\n";
  }
  const std::string text =
      "mesh @m = <x=2>\nkernel @ones() -> (%v: tensor<4xf32>) {\n"
      "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
      "host @h on @m () -> (%y: tensor<4xf32>) {\n  %c = comm over {x}\n"
      "  %s = stream \"main\"\n  %y = alloc on %s : tensor<4xf32>\n  launch @ones wo(%y) on %s\n" +
      body + "  return %y\n}\n";
  const auto stuck = run_text("hopeless.hir", text, "h");
  const WhatIf found = ask(*stuck);
  EXPECT_EQ(found.completes, 0u);
  EXPECT_GT(found.trials.size(), 10u);
  EXPECT_NE(found.conclusion.find("No small edit was found that lets it complete"),
            std::string::npos)
      << found.conclusion;
  EXPECT_NE(to_text(found).find("No small edit was found"), std::string::npos);
}

TEST(WhatIf, IsBoundedAndCanBeCalledOff) {
  const std::string text = read("tests/scripts/stuck/deadlocks.hir");
  const auto stuck = run_text("deadlocks.hir", text, "ring_of_sends");
  WhatIfOptions few;
  few.max_trials = 3;
  EXPECT_EQ(ask(*stuck, few).trials.size(), 3u);
  std::stop_source source;
  WhatIfOptions called_off;
  called_off.stop = source.get_token();
  called_off.progress = [&](const WhatIfProgress& p) {
    if (p.tried == 2) source.request_stop();
  };
  const WhatIf found = ask(*stuck, called_off);
  EXPECT_TRUE(found.cancelled);
  EXPECT_EQ(found.trials.size(), 2u);
}

TEST(WhatIf, NeedsSomethingThatHangs) {
  const std::string text = read("tests/scripts/stuck/deadlocks.hir");
  const auto stuck = run_text("deadlocks.hir", text, "ring_of_sends");
  ASSERT_TRUE(stuck->session->execute(*parse_command("goto start"), {}));
  const auto found = stuck->session->execute(*parse_command("whatif"), {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message().find("nothing hangs here"), std::string::npos);
}

// Several instructions on one line are first printed on separate lines; the answer says so.
TEST(WhatIf, ATextWithRegionsOnOneLine) {
  const std::string text =
      "mesh @m = <x=2>\nkernel @ones() -> (%v: tensor<4xf32>) {\n"
      "  %v = constant {value = 1} : tensor<4xf32>\n  return %v\n}\n"
      "host @h on @m () -> (%y: tensor<4xf32>) {\n  %c = comm over {x}\n"
      "  %s = stream \"main\"\n  %y = alloc on %s : tensor<4xf32>\n  launch @ones wo(%y) on %s\n"
      "  where coord(x) == 0 { all_reduce sum %c rw(%y) on %s }\n  return %y\n}\n";
  const auto stuck = run_text("dense.hir", text, "h");
  const WhatIf found = ask(*stuck);
  EXPECT_TRUE(found.reformatted);
  ASSERT_GT(found.completes, 0u);
  expect_completes(found.trials.front().edit.text, "h");
}

// Two calls that begin with the same words are told apart by more of them, or by their lines only.
TEST(WhatIf, NothingIsSaidTwice) {
  EXPECT_EQ(best_of("  %b = alloc on %s : tensor<4xf32>\n  launch @ones wo(%b) on %s\n"
                    "  where coord(x) == 0 {\n    all_reduce sum %c rw(%y) on %s\n"
                    "    all_reduce sum %d rw(%y) on %s\n  } else {\n"
                    "    all_reduce sum %d rw(%y) on %s\n    all_reduce sum %c rw(%y) on %s\n  }\n"
                    "  free %b on %s\n"),
            "Move all_reduce sum %d (line 16) before all_reduce sum %c (line 15).");
  const std::string other = "  %t = stream \"other\"\n";
  EXPECT_EQ(best_of(other + "  %e = all_reduce sum %c rw(%y) on %s\n"
                            "  all_reduce sum %c rw(%y) on %t\n"),
            "Let all_reduce sum %c rw(%y) on %t (line 14) wait for all_reduce sum %c rw(%y) on %s "
            "(line 13).");
  // One word of the call is wrong: replacing the whole call is not a second proposal.
  const std::string text = four_ranks(
      "  %b = alloc on %s : tensor<4xf32>\n  launch @ones wo(%b) on %s\n"
      "  where coord(x) == 1 {\n    all_reduce max %c rw(%b) on %s\n  } else {\n"
      "    all_reduce sum %c rw(%y) on %s\n  }\n  free %b on %s\n");
  const WhatIf found = ask(*run_text("four.hir", text, "h"));
  ASSERT_GT(found.completes, 0u);
  for (size_t i = 0; i < found.completes; ++i) {
    const WhatIfTrial& smaller = found.trials[i];
    if (!smaller.good()) continue;
    for (size_t k = 0; k < found.completes; ++k) {
      const WhatIfTrial& larger = found.trials[k];
      EXPECT_FALSE(contains_edit(text, smaller.edit.text, larger.edit.text))
          << larger.edit.sentence << " contains " << smaller.edit.sentence;
    }
  }
}

TEST(LineEdit, AnEditThatContainsAnother) {
  const std::string text = "where a {\n  x\n  y sum\n}\n";
  const std::string moved = "x\ny sum\n";
  EXPECT_TRUE(contains_edit(text, "where a {\n  x\n  y max\n}\n", "where a {\n  z\n  y max\n}\n"));
  EXPECT_TRUE(contains_edit(text, moved, "x\ny sum\nw\n")) << "and one line more";
  EXPECT_FALSE(contains_edit(text, moved, "x\n")) << "leaving y out is another edit";
  EXPECT_FALSE(contains_edit(text, "where a {\n  x\n  y max\n}\n", "where a {\n  x\n  y min\n}\n"));
  EXPECT_FALSE(contains_edit(text, moved, moved));
  EXPECT_FALSE(contains_edit(text, moved, "  x\n  y sum\n")) << "the same but for blanks";
}

TEST(LineEdit, PartsOfAnEditDoNotShiftEachOther) {
  LineEdit edit(split_lines("a\n  b\nc\n"));
  edit.erase({0, 0}).move({1, 1}, 3, -2).insert(2, {"x"});
  EXPECT_EQ(edit.text(), "x\nc\nb\n");
  EXPECT_EQ(edit.origins(), (std::vector<size_t>{LineEdit::kNewLine, 2, 1, 3}));
  EXPECT_EQ(edit_size("a\n  b\nc\n", "a\nb\nc\n"), 0u) << "only to the left";
  EXPECT_EQ(edit_size("a\nb\nc\n", "a\nz\nc\n"), 1u);
  const std::vector<DiffLine> diff = line_diff("a\nb\nc\nd\n", "a\nb\nz\nd\n", 1);
  ASSERT_EQ(diff.size(), 4u);
  EXPECT_EQ(diff[1], (DiffLine{DiffLine::Kind::kRemoved, 3, "c"}));
  EXPECT_EQ(diff[2], (DiffLine{DiffLine::Kind::kAdded, 3, "z"}));
}

TEST(WhatIf, ConditionsForRanks) {
  using what_if_parts::condition_of;
  EXPECT_EQ(condition_of({2}, 4), "rank == 2");
  EXPECT_EQ(condition_of({1, 2}, 4), "rank >= 1 && rank <= 2");
  EXPECT_EQ(condition_of({0, 2, 3}, 8), "rank == 0 || rank >= 2 && rank <= 3");
  EXPECT_EQ(condition_of({0, 1, 2, 3}, 4), "");
  EXPECT_EQ(condition_of({0, 2, 4, 6, 8}, 16), "");
}

}  // namespace
}  // namespace hostir::interp
