// Ranks that are frozen stop the others, which is not a deadlock. The scripts under stuck and
// faults have the deadlocks and mismatches, with their sentences.
#include "core_test.h"
#include "interp/model/verdict.h"

namespace hostir::interp::test {
namespace {

TEST(Deadlock, FrozenRanksOnlyStopTheOthers) {
  const auto r = start(R"(
mesh @m = <x=2>
host @f on @m (%a: tensor<4xf32>) -> () {
  %c = comm over {x}
  %s = stream "s"
  %p = alloc on %s : tensor<4xf32>
  all_reduce sum %c ro(%a) wo(%p) on %s
  return
}
)");
  ASSERT_TRUE(r);
  r->interpreter->freeze(1);
  EXPECT_EQ(r->interpreter->run(), RunEnd::kStuck);
  EXPECT_TRUE(r->interpreter->faults().empty());
  EXPECT_EQ(diagnose::wait_graph(r->interpreter->run_model())
                .sentence.rfind("rank 1 never came to all_reduce", 0),
            0u);
  r->interpreter->thaw(1);
  r->interpreter->run();
  EXPECT_TRUE(r->interpreter->finished());
}

}  // namespace
}  // namespace hostir::interp::test
