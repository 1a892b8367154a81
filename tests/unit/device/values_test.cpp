// Values of a device are read when a task is reported as complete, before the next one changes
// them.
#include <gtest/gtest.h>

#include <string>

#include "hostir/api/backends.h"
#include "hostir/text/parser.h"
#include "interp/cuda/backend.h"
#include "interp/session/check_reference.h"

namespace hostir::cuda {
namespace {

std::vector<std::unique_ptr<Device>> prompt_device(const RunClock& clock) {
  std::vector<std::unique_ptr<Device>> out;
  out.push_back(make_host_device(0, clock, int64_t{1} << 40, 0));
  return out;
}

Expected<std::unique_ptr<interp::Backend>> device_or_sim(const interp::BackendRequest& request) {
  if (request.name == "sim") return api::make_backend_factory()(request);
  return make_device_backend({}, prompt_device);
}

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
  const auto program = text::parse_program(kProgram);
  ASSERT_TRUE(program) << program.error().message();
  interp::PrepareOptions prepare;
  prepare.function = "f";
  ValueSpec x;
  x.kind = ValueSpec::Kind::kIota;
  const auto prepared = interp::prepare(*program, {{"x", x}}, prepare);
  ASSERT_TRUE(prepared) << prepared.error().message();
  interp::RunOptions actual;
  actual.backend.name = "device";
  interp::RunOptions reference;
  reference.backend.name = "sim";
  reference.backend.machine = default_machine();
  const auto report =
      interp::check_reference(**prepared, device_or_sim, actual, reference, Tolerance{});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->difference) << report->difference->sentence;
  EXPECT_EQ(report->compared, 8);
  EXPECT_EQ(report->unmatched, 0);
}

}  // namespace
}  // namespace hostir::cuda
