// "What if" in the window: from a hang to an edit that completes, only by clicking.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "hostir/io/files.h"
#include "hostir/support/text.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

const interp::WhatIf* found(Workbench& w) { return w.model().what_if().result(); }

// Applies the smallest edit that completes, in the editor, and runs to the end.
void fix(const std::string& function) {
  const std::string path = "tests/programs/deadlock.hir";
  const auto before = io::read_file(path);
  Workbench w(path, 1600, 1000, "", function);
  EXPECT_FALSE(w.has("waits/whatif")) << "nothing hangs yet";
  w.press("F5");
  ASSERT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock);
  const uint64_t stopped_at = w.decision();
  w.perform("panel.waits");
  ASSERT_TRUE(w.click("waits/whatif"));
  ASSERT_NE(found(w), nullptr) << w.text("whatif/error");
  ASSERT_GT(found(w)->completes, 0u);
  EXPECT_EQ(w.decision(), stopped_at) << "the search moves nothing";
  w.only("whatif");
  EXPECT_EQ(w.text("whatif/conclusion"), found(w)->conclusion);
  EXPECT_TRUE(says(w.text("whatif/verdict/0"), "completes"));
  EXPECT_FALSE(w.text("whatif/sentence/0").empty());
  EXPECT_FALSE(w.text("whatif/diff/0").empty());

  ASSERT_TRUE(w.click("whatif/open/0"));
  w.only("editor");
  EXPECT_EQ(w.text("editor/state"), "changed");
  EXPECT_EQ(w.shot().stop.kind, interp::StopKind::kDeadlock) << "nothing runs before it is asked";
  ASSERT_TRUE(w.click("editor/run"));
  w.press("F5");
  for (const auto& rank : w.shot().ranks) {
    EXPECT_EQ(rank->status, interp::RankStatus::kDone) << w.shot().stop.sentence;
    EXPECT_EQ(rank->outstanding(), 0u) << "rank " << rank->rank;
  }
  // @crossed leaks a buffer even without the edit.
  for (const interp::FaultSnapshot& fault : *w.shot().faults)
    EXPECT_EQ(fault.kind, "leak") << fault.sentence;
  EXPECT_EQ(*io::read_file(path), *before) << "no file was written";
}

TEST(WhatIfPanel, ACallThatARankForgets) { fix("@forgotten"); }
TEST(WhatIfPanel, TwoCommunicatorsInOppositeOrders) { fix("@crossed"); }

TEST(WhatIfPanel, AMismatchHasTheButtonInItsCard) {
  Workbench w("tests/scripts/stuck/mismatches.hir", 1600, 1000, "", "@reduction");
  w.press("F5");
  w.only("ledger");
  ASSERT_TRUE(w.click("ledger/whatif"));
  ASSERT_NE(found(w), nullptr);
  EXPECT_GT(found(w)->completes, 0u);
  w.only("ledger");
  EXPECT_EQ(w.text("ledger/whatif"),
            fmt::format("What if: {} found", counted(found(w)->completes, "edit")));
  // Edits that did not help are listed too, with the reason.
  w.only("whatif");
  const size_t first = found(w)->completes;
  ASSERT_GT(found(w)->trials.size(), first);
  EXPECT_FALSE(w.has(fmt::format("whatif/edit/{}", first)));
  w.click("whatif/others");
  EXPECT_TRUE(w.has(fmt::format("whatif/edit/{}", first)));
}

TEST(WhatIfPanel, IsOnlyOfferedWhereSomethingHangs) {
  Workbench w(kMlp);
  EXPECT_FALSE(w.perform("whatif") && w.model().what_if().running());
  w.press("F5");
  w.only("whatif");
  EXPECT_FALSE(w.has("whatif/start"));
  EXPECT_EQ(found(w), nullptr);
}

TEST(WhatIfPanel, WhatWasTypedIsKept) {
  Workbench w("tests/programs/deadlock.hir", 1600, 1000, "", "@forgotten");
  w.press("F5");
  w.perform("whatif");
  ASSERT_NE(found(w), nullptr);
  TextForDocument text = w.model().what_if().text_of(found(w)->trials[0]);
  text.text = "// mine\n" + text.text;
  ASSERT_TRUE(w.model().document().put(text));
  w.only("editor");
  EXPECT_FALSE(w.has("editor/mine")) << "nothing was typed before";
  w.only("whatif");
  ASSERT_TRUE(w.click("whatif/open/0"));
  w.only("editor");
  ASSERT_TRUE(w.click("editor/mine"));
  EXPECT_FALSE(w.has("editor/mine"));
  EXPECT_EQ(w.text("editor/state"), "changed");
}

// The file's tests of the function also apply to the edit. A test that expects the hang itself does
// not.
TEST(WhatIfPanel, TestsOfTheFileAreHeldAgainstAnEdit) {
  const std::string path = testing::TempDir() + "claims.hir";
  std::ofstream(path) << "mesh @m = <x=2>\n"
                         "kernel @ones() -> (%v: tensor<2xf32>) {\n"
                         "  %v = constant {value = 1} : tensor<2xf32>\n"
                         "  return %v\n"
                         "}\n"
                         "host @h on @m () -> (%y: shard<2xf32, @m, [{}]>) {\n"
                         "  %c = comm over {x}\n"
                         "  %s = stream \"main\"\n"
                         "  %y = alloc on %s : shard<2xf32, @m, [{}]>\n"
                         "  launch @ones wo(%y) on %s\n"
                         "  where coord(x) == 0 {\n"
                         "    all_reduce sum %c rw(%y) on %s\n"
                         "  }\n"
                         "  return %y\n"
                         "}\n"
                         "test \"the sum\" {\n"
                         "  run @h()\n"
                         "  expect_output %y == \"2xf32=[2 2]\" exact\n"
                         "}\n"
                         "test \"the hang\" {\n"
                         "  run @h()\n"
                         "  expect_deadlock {{rank 1}}\n"
                         "}\n";
  Workbench w(path, 1600, 1000, "", "@h");
  w.press("F5");
  w.perform("whatif");
  ASSERT_NE(found(w), nullptr) << w.text("whatif/error");
  const interp::WhatIf& answer = *found(w);
  ASSERT_GT(answer.completes, 1u);
  EXPECT_EQ(answer.trials.front().claims.tests, 1u);
  EXPECT_TRUE(answer.trials.front().good());
  // Without the call every rank keeps its ones: the program completes, but its test fails.
  const interp::WhatIfTrial& last = answer.trials[answer.completes - 1];
  EXPECT_TRUE(says(last.edit.sentence, "Leave out")) << last.edit.sentence;
  EXPECT_EQ(last.claims.failed, 1u);
  EXPECT_FALSE(last.good());
  w.only("whatif");
  EXPECT_EQ(w.text("whatif/verdict/0"), "completes, 1 test of the file passes");
}

// A search belongs to a session; opening another one ends it.
TEST(WhatIfPanel, OpeningAnotherProgramEndsTheSearch) {
  Workbench w("tests/programs/deadlock.hir", 1600, 1000, "", "@crossed");
  w.press("F5");
  w.model().what_if().start(w.model());
  EXPECT_TRUE(w.model().what_if().running());
  w.model().what_if().cancel(w.model());
  EXPECT_FALSE(w.model().what_if().running());
  w->wait_until_idle(30);
  EXPECT_EQ(found(w), nullptr);
  w.only("whatif");
  EXPECT_EQ(w.text("whatif/error"), "The search was cancelled.");
}

}  // namespace
}  // namespace hostir::gui
