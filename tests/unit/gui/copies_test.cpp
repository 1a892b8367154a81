// The Layout panel on ranks that hold the same part: copies, copies that differ, addends, the two
// ranks of a send.
#include <cstdlib>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

constexpr const char* kReplicas = "tests/scripts/faults/replicas.hir";

void show_layout(Workbench& w, const std::string& value) {
  w.only("layout");
  w.model().selection.value = value;
  w->wait_until_idle(kIdleSeconds);
}

TEST(Copies, ReplicasThatDifferAreNotDrawnAsCopies) {
  Workbench w(kReplicas, 1600, 1000, "", "a_seed_of_each_rank");
  ASSERT_TRUE(w.press("F5"));
  show_layout(w, "y");
  EXPECT_TRUE(says(w.text("layout/differ"), "r0, r2 \u2260 r1, r3")) << w.text("layout/differ");
  EXPECT_FALSE(says(w.text("layout/mesh/1"), "a copy")) << "it differs from rank 0";
  EXPECT_TRUE(says(w.text("layout/mesh/2"), "a copy")) << "it is equal to rank 0";
  EXPECT_TRUE(says(w.text("layout/mesh/3"), "a copy")) << "it is equal to rank 1";
}

TEST(Copies, ReplicasThatAgreeAreCopies) {
  Workbench w(kReplicas, 1600, 1000, "", "a_seed_of_each_rank.right");
  ASSERT_TRUE(w.press("F5"));
  show_layout(w, "y");
  EXPECT_FALSE(w.has("layout/differ"));
  for (const char* rank : {"1", "2", "3"})
    EXPECT_TRUE(says(w.text(std::string("layout/mesh/") + rank), "a copy")) << rank;
}

// A partial element has the number that Values shows, and its addends make that number.
TEST(Copies, AnElementOfAPartialSumHasOneNumberAndItsAddends) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until all_reduce"));
  ASSERT_TRUE(w.perform("until all_reduce"));  // now both ranks have written their addends
  show_layout(w, "y_product");
  ASSERT_TRUE(w.has("layout/partial"));
  const auto number = [&](const std::string& name) { return std::atof(w.text(name).c_str()); };
  const double sum = number("layout/cell/0");
  const double addends = number("layout/addend/0/r0") + number("layout/addend/0/r1");
  EXPECT_NEAR(sum, addends, 0.02 * (std::abs(sum) + 1));
  w.only("values");
  EXPECT_NEAR(number("values/0"), sum, 0.01 * (std::abs(sum) + 1));
}

}  // namespace
}  // namespace hostir::gui
