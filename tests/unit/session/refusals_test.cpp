// Errors that the command line checks for before they can happen.
#include <gtest/gtest.h>

#include "hostir/api/open/backends.h"
#include "kernels/common/bind_kernel.h"
#include "live_run.h"
#include "traces/profile/job_profile.h"

namespace hostir::interp {
namespace {

template <class T>
std::string id_of(const Expected<T>& result) {
  return result ? "no error" : result.error().diagnostics.front().id;
}

TEST(Refusals, OfUnknownBackendsAndNoProfiles) {
  BackendRequest request;
  request.name = "nowhere";
  EXPECT_EQ(id_of(api::make_backend_factory()(request)), "no_backend");
  EXPECT_EQ(id_of(traces::profile::join({})), "profile_size");
}

TEST(Refusals, OfKernels) {
  const auto program = text::parse_program(
      "kernel @k(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {\n  %y = neg %x\n  return %y\n}\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(id_of(kernels::bind_kernel(*program, program->functions.front(), 0, {}, {})),
            "kernel_operands");
  const Function bodiless;
  kernels::BoundKernel kernel;
  kernel.function = kernels::borrowed(bodiless);
  EXPECT_EQ(id_of(kernels::kernel_body(kernel)), "kernel_invalid");
}

TEST(Refusals, OfARunThatIsGivenUp) {
  const auto program = text::parse_program(
      "mesh @m = <x=64>\nhost @f on @m () {\n  %s = stream \"main\"\n  return\n}\n");
  ASSERT_TRUE(program);
  const auto prepared = prepare(*program, {}, {});
  ASSERT_TRUE(prepared);
  RunOptions options;
  options.backend.machine = *find_builtin_machine("h200x8");
  options.give_up = [] { return true; };
  // It is polled once per 64 host instructions; there are 128.
  EXPECT_EQ(id_of(run(**prepared, make_sim, options)), "given_up");
}

}  // namespace
}  // namespace hostir::interp
