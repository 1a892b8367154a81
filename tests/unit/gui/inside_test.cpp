// The Inside panel follows the rank and the selection, and its contents can be clicked.
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

void wait_until_idle_inside(Workbench& w) { w->wait_until_idle(30); }

TEST(InsidePanel, FollowsTheRankIntoALaunchAndTheSelectionOfAnElement) {
  Workbench w(kMlp);
  w.only("inside");
  // At the start there is nothing to show, so the panel shows its hint.
  EXPECT_FALSE(w.has("inside/element"));
  ASSERT_TRUE(w.perform("until launch"));
  wait_until_idle_inside(w);
  ASSERT_TRUE(w.has("inside/element"));
  EXPECT_NE(w.text("inside/0").find("linear"), std::string::npos) << w.text("inside/0");
  EXPECT_NE(w.text("inside/0/reads/0").find("%x[0, 0, 0:8]"), std::string::npos)
      << w.text("inside/0/reads/0");
  EXPECT_NE(w.text("inside/moment").find("next"), std::string::npos) << w.text("inside/moment");
  const std::string first = w.text("inside/element");
  EXPECT_NE(first.find(" = "), std::string::npos) << first;
  // Select another element of its result.
  const std::string name = first.substr(1, first.find('[') - 1);
  w.model().selection.value = name;
  w.model().selection.element = {0, 2, 1};
  wait_until_idle_inside(w);
  const std::string second = w.text("inside/element");
  EXPECT_NE(second.find("[0, 2, 1]"), std::string::npos) << second;
  // Clicking an operand selects it; the element stays.
  ASSERT_TRUE(w.click("inside/0/reads/0"));
  EXPECT_EQ(w.model().selection.value, "x");
  EXPECT_EQ(w.text("inside/element"), second);
}

TEST(InsidePanel, ACollectiveShowsItsAddendsAndWhoHasCome) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until rendezvous"));
  w.only("inside");
  wait_until_idle_inside(w);
  ASSERT_TRUE(w.has("inside/member/0"));
  EXPECT_EQ(w.text("inside/member/1"), "not arrived");
  EXPECT_NE(w.text("inside/how").find("sum"), std::string::npos) << w.text("inside/how");
  EXPECT_NE(w.text("inside/0/reads/0").find("[0, 0, 0] = "), std::string::npos);
  EXPECT_FALSE(w.text("inside/1/running").empty());
  EXPECT_NE(w.text("inside/duration").find("latency"), std::string::npos);
  ASSERT_TRUE(w.click("inside/1/reads/0"));
  EXPECT_EQ(w.model().selection.rank, 1);
  EXPECT_EQ(w.model().selection.element, (std::vector<int64_t>{0, 0, 0}));
}

TEST(InsidePanel, ASelectedInstructionIsShownUntilTheNextStep) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until launch"));
  w.only("inside");
  wait_until_idle_inside(w);
  const std::string here = w.text("inside/instruction");
  const interp::Code& code = *w.shot().program->code;
  for (interp::CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].role == interp::CodeRole::kInstruction && code.address(i) != here)
      w.model().selection.code = i;
  }
  wait_until_idle_inside(w);
  EXPECT_NE(w.text("inside/instruction"), here);
  ASSERT_TRUE(w.perform("next"));
  wait_until_idle_inside(w);
  EXPECT_EQ(w.text("inside/instruction"), code.address(w.shot().rank(w.shot().focus).code));
}

TEST(InsidePanel, F12BringsItForwardAndF11StillSteps) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until launch"));
  const uint64_t before = w.decision();
  ASSERT_TRUE(w.press("F12"));
  EXPECT_EQ(w.decision(), before);
  EXPECT_TRUE(w.has("inside/element"));
  ASSERT_TRUE(w.press("F11"));
  EXPECT_GT(w.decision(), before);
}

}  // namespace
}  // namespace hostir::gui
