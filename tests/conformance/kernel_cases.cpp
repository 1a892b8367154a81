// Launches: what a kernel reads, writes and knows about its position.
#include "cases.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

// Sizes are bound at launch: the same kernel runs on 3, 2 and 0 rows.
constexpr const char* kMatmul = R"(mesh @m = <r=3>
kernel @mm(%a: tensor<?Mx?Kxf32>, %b: tensor<?Kx?Nxf32>) -> (%c: tensor<?Mx?Nxf32>) {
  %c = matmul %a, %b
  return %c
}
host @f on @m (%a: shard<4x2xf32, @m, [{r}, {}]>, %b: tensor<2x3xf32>) -> (%c: shard<4x3xf32, @m, [{r}, {}]>) {
  %s = stream "main"
  %c = alloc on %s : shard<4x3xf32, @m, [{r}, {}]>
  launch @mm ro(%a, %b) wo(%c) on %s
  return %c
}
)";

const std::vector<Tensor>& matmul_inputs() {
  static const std::vector<Tensor> kInputs = {tensor("4x2xf32=[1 2][3 4][5 6][7 8]"),
                                              tensor("2x3xf32=[1 0 2][0 1 3]")};
  return kInputs;
}

void check_matmul(const BackendUnderTest& backend) {
  const auto trial = run(backend, kMatmul, matmul_inputs());
  ASSERT_NE(trial, nullptr);
  const auto whole = trial->interpreter->global_result(0);
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, tensor("4x3xf32=[1 2 8][3 4 18][5 6 28][7 8 38]"));
}

void check_matmul_runs(const BackendUnderTest& backend) {
  EXPECT_NE(run(backend, kMatmul, matmul_inputs()), nullptr);
}

// The global index and shape come from the operand's layout, not from its local shape.
constexpr const char* kIota = R"(mesh @m = <r=4>
kernel @numbers() -> (%y: tensor<5x2xi32>) {
  %y = iota {dim = 0} : tensor<5x2xi32>
  return %y
}
host @f on @m () -> (%y: shard<5x2xi32, @m, [{r}, {}]>) {
  %s = stream "main"
  %y = alloc on %s : shard<5x2xi32, @m, [{r}, {}]>
  launch @numbers wo(%y) on %s
  return %y
}
)";

void check_iota(const BackendUnderTest& backend) {
  const auto trial = run(backend, kIota, {});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(1), tensor("2x2xi32=[2 2][3 3]"));
  EXPECT_EQ(trial->result(2), tensor("1x2xi32=[4 4]"));
}

// rw operands follow the ro operands among the parameters, and the wo operands among the results.
constexpr const char* kTwoResults = R"(mesh @m = <r=2>
kernel @both(%x: tensor<?Nxf32>, %y: tensor<?Nxf32>) -> (%p: tensor<?Nxf32>, %q: tensor<?Nxf32>) {
  %p = add %x, %y
  %q = sub %x, %y
  return %p, %q
}
host @f on @m (%x: tensor<3xf32>, inout %y: tensor<3xf32>) -> (%p: tensor<3xf32>, %y: tensor<3xf32>) {
  %s = stream "main"
  %p = alloc on %s : tensor<3xf32>
  launch @both ro(%x) wo(%p) rw(%y) on %s
  return %p, %y
}
)";

void check_two_results(const BackendUnderTest& backend) {
  const auto trial =
      run(backend, kTwoResults, {tensor("3xf32=[1 2 3]"), tensor("3xf32=[10 20 40]")});
  ASSERT_NE(trial, nullptr);
  for (Rank rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(trial->result(rank, 0), tensor("3xf32=[11 22 43]"));
    EXPECT_EQ(trial->result(rank, 1), tensor("3xf32=[-9 -18 -37]"));
  }
}

// Tasks of one stream see each other's writes; the loop makes the order matter.
constexpr const char* kChain = R"(mesh @m = <r=2>
kernel @step(%x: tensor<?Nxf32>) -> (%y: tensor<?Nxf32>) {
  %t = add %x, %x
  %one = constant {value = 1.0} : tensor<?Nxf32>
  %y = add %t, %one
  return %y
}
host @f on @m (inout %x: shard<4xf32, @m, [{r}]>) -> (%x: shard<4xf32, @m, [{r}]>) {
  %s = stream "main"
  for %i in 0..10 {
    launch @step rw(%x) on %s
  }
  return %x
}
)";

void check_chain(const BackendUnderTest& backend) {
  const auto trial = run(backend, kChain, {tensor("4xf32=[0 1 2 3]")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0), tensor("2xf32=[1023 2047]"));
  EXPECT_EQ(trial->result(1), tensor("2xf32=[3071 4095]"));
}

// A number written by a kernel is read by the host and determines the length of a loop.
constexpr const char* kRead = R"(mesh @m = <r=2>
kernel @inc(%x: tensor<2xi32>) -> (%y: tensor<2xi32>) {
  %one = constant {value = 1} : tensor<2xi32>
  %y = add %x, %one
  return %y
}
host @f on @m (%n: tensor<2xi32>, inout %x: tensor<2xi32>) -> (%x: tensor<2xi32>) {
  %s = stream "main"
  %k = alloc on %s : tensor<2xi32>
  %e = launch @inc ro(%n) wo(%k) on %s
  wait %e on host
  %times = read %k[coord(r)]
  for %i in 0..%times {
    launch @inc rw(%x) on %s
  }
  free %k on %s
  return %x
}
)";

void check_read(const BackendUnderTest& backend) {
  const auto trial = run(backend, kRead, {tensor("2xi32=[2 5]"), tensor("2xi32=[0 100]")});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0), tensor("2xi32=[3 103]"));
  EXPECT_EQ(trial->result(1), tensor("2xi32=[6 106]"));
}

}  // namespace

void add_kernel_cases(CaseList& cases) {
  cases.push_back({"kernel_of_uneven_and_empty_parts", check_matmul_runs});
  cases.push_back({"values_of_matmul_on_uneven_parts", check_matmul});
  cases.push_back({"values_of_a_kernel_that_knows_its_place", check_iota});
  cases.push_back({"values_of_a_kernel_of_two_results", check_two_results});
  cases.push_back({"values_in_order_of_a_stream", check_chain});
  cases.push_back({"values_read_by_the_host", check_read});
}

}  // namespace hostir::conformance
