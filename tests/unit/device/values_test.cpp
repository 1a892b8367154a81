// Values of a device are read when a task is reported as complete, before the next one changes
// them.
#include <gtest/gtest.h>

#include <string>

#include "interp/session/checks/check_reference.h"
#include "tests/unit/device/device_programs.h"

namespace hostir::cuda {
namespace {

// Ranks 0 and 1 have issued the all_reduce, which changes %t in place, when ranks 2 and 3 come to
// the permute that writes %t.
const std::string kProgram = R"(mesh @m = <r=4>
host @f on @m (%x: tensor<2xf32>) -> (%t: tensor<2xf32>) {
  %c = comm over {r}
  %d = comm groups [[0, 1], [2, 3]]
  %s = stream "s"
  %t = alloc on %s : tensor<2xf32>
  where coord(r) > 1 {
    for %i in 0..20 {
      %u = alloc on %s : tensor<2xf32>
      free %u on %s
    }
  }
  permute %c shift(2) ro(%x) wo(%t) on %s
  all_reduce sum %d rw(%t) on %s
  return %t
})";

TEST(Values, AreReadBeforeTheNextTaskChangesThem) {
  const auto prepared = prepare_text(kProgram);
  ASSERT_NE(prepared, nullptr);
  interp::RunOptions actual;
  actual.backend.name = "device";
  interp::RunOptions reference;
  reference.backend.name = "sim";
  reference.backend.machine = default_machine();
  const auto report =
      interp::check_reference(*prepared, device_or_sim, actual, reference, Tolerance{});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->difference) << report->difference->sentence;
  EXPECT_EQ(report->compared, 8);
  EXPECT_EQ(report->unmatched, 0);
}

// The findings of a run that watches values but logs none.
std::string findings(const std::string& text) {
  const auto prepared = prepare_text(text);
  if (prepared == nullptr) return "";
  interp::RunOptions options;
  options.backend.name = "device";
  options.watch_values = true;
  const auto result = interp::run(*prepared, device_or_sim, options);
  EXPECT_TRUE(result) << result.error().message();
  std::string out;
  for (const interp::Fault& fault : result->faults) {
    out += fault.record.kind + ": " + fault.record.sentence + "\n";
  }
  return out;
}

TEST(Values, TellWhereTheFirstNaNWasBorn) {
  EXPECT_EQ(findings(R"(mesh @m = <r=2>
kernel @less(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %c = constant {value = 2.5} : tensor<4xf32>
  %b = sub %a, %c
  return %b
}
kernel @log_of(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = log %a
  return %b
}
host @f on @m (%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %s = stream "s"
  %h = alloc on %s : tensor<4xf32>
  %y = alloc on %s : tensor<4xf32>
  launch @less ro(%x) wo(%h) on %s
  launch @log_of ro(%h) wo(%y) on %s
  launch @less ro(%y) wo(%h) on %s
  free %h on %s
  return %y
})"),
            "nan_born: rank 0: @f#5 launch @log_of makes the first NaN, at [0] of %y\n");
}

TEST(Values, TellWhereReplicasPart) {
  EXPECT_EQ(
      findings(R"(mesh @m = <r=2>
kernel @twice(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = add %a, %a
  return %b
}
kernel @same(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = maximum %a, %a
  return %b
}
host @f on @m (%x: shard<4xf32, @m, [{}]>) -> (%y: shard<4xf32, @m, [{}]>) {
  %s = stream "s"
  %h = alloc on %s : shard<4xf32, @m, [{}]>
  %y = alloc on %s : shard<4xf32, @m, [{}]>
  where coord(r) == 0 {
    launch @twice ro(%x) wo(%h) on %s
  } else {
    launch @same ro(%x) wo(%h) on %s
  }
  launch @same ro(%h) wo(%y) on %s
  free %h on %s
  return %y
})"),
      "replicas_differ: ranks 0 and 1 return the same part of %y by its layout <@m, [{}]>, but "
      "hold 2 and 1 at [1]: they first differ at @f#6 launch @same on rank 1, while rank 0 "
      "still holds the result of @f#5 launch @twice\n");
}

}  // namespace
}  // namespace hostir::cuda
