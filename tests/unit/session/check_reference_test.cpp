// A run compared with another backend's after every instruction, and machines measured.
#include "interp/session/checks/check_reference.h"

#include <gtest/gtest.h>

#include "hostir/api/check/calibrate.h"
#include "hostir/api/open/backends.h"
#include "hostir/text/parse/parser.h"
#include "interp/session/checks/register_roundings.h"

namespace hostir::interp {
namespace {

constexpr const char* kProgram = R"(mesh @m = <r=2>
kernel @zero(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = sub %a, %a
  return %b
}
kernel @twice(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = add %a, %a
  return %b
}
host @f on @m (%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %s = stream "s"
  %z = alloc on %s : tensor<4xf32>
  %y = alloc on %s : tensor<4xf32>
  for %i in 0..3 {
    launch @zero ro(%x) wo(%z) on %s
    launch @twice ro(%x) wo(%y) on %s
  }
  free %z on %s
  return %y
})";

ValueSpec iota() {
  ValueSpec x;
  x.kind = ValueSpec::Kind::kIota;
  return x;
}

ValueSpec normal(uint64_t seed) {
  ValueSpec x;
  x.kind = ValueSpec::Kind::kNormal;
  x.seed = seed;
  x.b = 6;
  return x;
}

using Inputs = std::vector<NamedInput>;

Expected<ReferenceReport> check(const std::string& backend, int64_t max_bytes,
                                const char* text = kProgram,
                                const Inputs& inputs = {{"x", iota()}}) {
  HOSTIR_ASSIGN_OR_RETURN(const Program program, text::parse_program(text));
  PrepareOptions prepare_options;
  prepare_options.function = "f";
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, prepare(program, inputs, prepare_options));
  RunOptions reference;
  api::name_backend(reference.backend, "sim");
  reference.backend.machine = default_machine();
  reference.backend.reference_kernels = true;
  RunOptions actual = reference;
  actual.backend.reference_kernels = false;
  api::name_backend(actual.backend, backend);
  return check_reference(*prepared, api::make_backend_factory(), actual, reference, Tolerance{},
                         max_bytes);
}

TEST(CheckReference, ComparesEveryWrite) {
  const auto report = check("sim", INT64_MAX);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->difference);
  EXPECT_EQ(report->compared, 2 * 3 * 2);
  EXPECT_EQ(report->skipped, 0);
}

// The null backend computes nothing: all of its values are zero, so @zero is right and @twice
// wrong.
TEST(CheckReference, NamesTheFirstInstructionThatDiffers) {
  const auto report = check("null", INT64_MAX);
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_TRUE(report->difference);
  EXPECT_EQ(report->difference->value, "y");
  EXPECT_EQ(report->difference->instruction, "@f#6");
  EXPECT_EQ(report->difference->rank, 0);
  EXPECT_NE(report->difference->sentence.find("launch, %i=0: 3 of 4 elements differ"),
            std::string::npos)
      << report->difference->sentence;
}

TEST(CheckReference, CountsWhatDoesNotFit) {
  const auto report = check("sim", 100);  // parameters and the first writes
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_GT(report->skipped, 0);
  EXPECT_EQ(report->compared + report->skipped, 2 * 3 * 2);
}

// exp(0.01 s) of a score of 4,000 makes its rounding error 40 times as large. The kernel sets add
// in different orders, so their scores differ; the exponentials are judged by the scores of their
// own run.
TEST(CheckReference, ANonlinearOpIsJudgedByTheRunsOwnOperands) {
  constexpr const char* kAttention = R"(mesh @m = <r=1>
kernel @scores(%q: tensor<64x1024xf32>, %k: tensor<64x1024xf32>) -> (%s: tensor<64x64xf32>) {
  %s = linear %q, %k
  return %s
}
kernel @exponentials(%s: tensor<64x64xf32>) -> (%p: tensor<64x64xf32>) {
  %c = constant {value = 0.01} : tensor<64x64xf32>
  %t = mul %s, %c
  %p = exp %t
  return %p
}
host @f on @m (%q: tensor<64x1024xf32>, %k: tensor<64x1024xf32>) -> (%p: tensor<64x64xf32>) {
  %st = stream "s"
  %s = alloc on %st : tensor<64x64xf32>
  %p = alloc on %st : tensor<64x64xf32>
  launch @scores ro(%q, %k) wo(%s) on %st
  launch @exponentials ro(%s) wo(%p) on %st
  free %s on %st
  return %p
})";
  const auto report = check("sim", INT64_MAX, kAttention, {{"q", normal(1)}, {"k", normal(2)}});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->compared, 2);
  EXPECT_FALSE(report->difference) << report->difference->sentence;
}

// A backend may or may not round a bf16 value inside a kernel, which shows in later values.
TEST(RegisterRoundings, FollowCoarseDtypesOutOfKernelsThroughCollectivesAndViews) {
  const auto program = text::parse_program(R"(mesh @m = <r=2>
kernel @through_bf16(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %n = cast %a {to = bf16} : tensor<4xbf16>
  %s = mul %n, %n
  %b = cast %s {to = f32} : tensor<4xf32>
  return %b
}
kernel @twice(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %b = add %a, %a
  return %b
}
host @f on @m (%x: tensor<4xf32>) -> (%z: tensor<4xf32>) {
  %c = comm over {r}
  %s = stream "s"
  %d = alloc on %s : tensor<4xf32>
  %y = alloc on %s : tensor<4xf32>
  %z = alloc on %s : tensor<4xf32>
  launch @twice ro(%x) wo(%d) on %s
  launch @through_bf16 ro(%x) wo(%y) on %s
  all_reduce sum %c rw(%y) on %s
  %v = subview %y [0:2]
  launch @twice ro(%y) wo(%z) on %s
  free %d on %s
  free %y on %s
  return %z
})");
  ASSERT_TRUE(program) << program.error().message();
  const auto code = compile_code(std::make_shared<Program>(*program), {});
  ASSERT_TRUE(code) << code.error().message();
  const auto roundings = register_roundings(**code);
  const auto of = [&](const std::string& name) -> std::optional<DType> {
    for (uint32_t r = 0; r < (*code)->registers.size(); ++r) {
      if ((*code)->register_name(r) == name) return roundings[r];
    }
    ADD_FAILURE() << "no register " << name;
    return {};
  };
  EXPECT_EQ(of("%x"), std::nullopt);
  EXPECT_EQ(of("%d"), DType::kF32);
  EXPECT_EQ(of("%y"), DType::kBF16);
  EXPECT_EQ(of("%v"), DType::kBF16);
  EXPECT_EQ(of("%z"), DType::kBF16);
}

// The simulator's times follow its machine, so calibration on it must return that machine.
TEST(Calibrate, FindsTheSimulatedMachine) {
  api::CalibrationOptions options;
  options.largest = 32;
  options.launches = 2;
  api::name_backend(options.backend, "sim");
  options.backend.machine = default_machine();
  Machine& machine = options.backend.machine;
  machine.launch_ns = 700;
  machine.memory_bandwidth_bytes_per_s = 2e9;
  machine.flops_per_s = {};
  machine.product_ramp_flops = 1e4;
  machine.flops_per_s[static_cast<size_t>(DType::kBF16)] = 9e9;
  machine.flops_per_s[static_cast<size_t>(DType::kF32)] = 4e9;
  const Machine truth = machine;
  const auto found = api::calibrate(options);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_LT(mean_error(*found, true), 0.01);
  EXPECT_LT(mean_error(*found, false), 0.01);
  EXPECT_NEAR(found->machine.launch_ns, truth.launch_ns, 0.05 * truth.launch_ns);
  EXPECT_NEAR(found->machine.memory_bandwidth_bytes_per_s, 2e9, 0.1e9);
  EXPECT_NEAR(found->machine.flops(DType::kBF16), 9e9, 0.9e9);
}

}  // namespace
}  // namespace hostir::interp
