// send and recv: rendezvous by (communicator, source, destination, ordinal); groups.
#include <fmt/core.h>

#include "cases.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

std::string shard_of(DType dtype) { return fmt::format("shard<8x{}, @m, [{{r}}]>", name(dtype)); }

// Every rank sends to the right and receives from the left at the same time.
std::string ring(DType dtype) {
  const std::string shard = shard_of(dtype);
  return fmt::format(R"(mesh @m = <r=4>
host @f on @m (%x: {0}) -> (%y: {0}) {{
  %c = comm over {{r}}
  %s = stream "main"
  %y = alloc on %s : {0}
  group {{
    send %c peer((rank + 1) % 4) ro(%x) on %s
    recv %c peer((rank + 3) % 4) wo(%y) on %s
  }}
  return %y
}}
)",
                     shard);
}

Tensor eight(DType dtype) {
  Tensor out = Tensor::zeros(dtype, {8});
  for (int64_t i = 0; i < 8; ++i) {
    out.set_double(i, static_cast<double>(dtype == DType::kI1 ? (i / 2 + i) % 2 : i + 1));
  }
  return out;
}

void check_ring(const BackendUnderTest& backend, DType dtype) {
  const Tensor in = eight(dtype);
  const auto trial = run(backend, ring(dtype), {in});
  ASSERT_NE(trial, nullptr);
  for (Rank rank = 0; rank < 4; ++rank) {
    const Tensor part = trial->result(rank);
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(part.get_double(i), in.get_double((rank + 3) % 4 * 2 + i)) << "rank " << rank;
    }
  }
}

// Two messages between one pair, on separate streams, with different lengths, one of them empty.
constexpr const char* kOrdinals = R"(mesh @m = <r=2>
host @f on @m (%a: tensor<3xf32>, %b: tensor<3xf32>, %z: tensor<0xf32>, inout %p: tensor<3xf32>, inout %q: tensor<3xf32>)
    -> (%p: tensor<3xf32>, %q: tensor<3xf32>) {
  %c = comm over {r}
  %s = stream "main"
  where rank == 0 {
    send %c peer(1) ro(%a) on %s
    send %c peer(1) ro(%z) on %s
    send %c peer(1) ro(%b) on %s
  } else {
    %e = alloc on %s : tensor<0xf32>
    recv %c peer(0) wo(%p) on %s
    recv %c peer(0) wo(%e) on %s
    recv %c peer(0) wo(%q) on %s
    free %e on %s
  }
  return %p, %q
}
)";

std::vector<Tensor> ordinal_inputs() {
  return {tensor("3xf32=[1 2 3]"), tensor("3xf32=[4 5 6]"), Tensor::zeros(DType::kF32, {0}),
          tensor("3xf32=7"), tensor("3xf32=8")};
}

void check_ordinals(const BackendUnderTest& backend) {
  const auto trial = run(backend, kOrdinals, ordinal_inputs());
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->result(0, 0), tensor("3xf32=7"));
  EXPECT_EQ(trial->result(1, 0), tensor("3xf32=[1 2 3]"));
  EXPECT_EQ(trial->result(1, 1), tensor("3xf32=[4 5 6]"));
}

// A group of collectives over two communicators, including one that another group's members call
// later.
constexpr const char* kGroup = R"(mesh @m = <a=2, b=2>
host @f on @m (%x: shard<4xf32, @m, [{a, b}]>, inout %y: shard<4xf32, @m, [{a, b}]>, inout %z: shard<4xf32, @m, [{a, b}]>)
    -> (%y: shard<4xf32, @m, [{a, b}]>, %z: shard<4xf32, @m, [{a, b}]>) {
  %ca = comm over {a}
  %cb = comm over {b}
  %s = stream "main"
  %mx = reinterpret %x : tensor<1xf32>
  %my = reinterpret %y : tensor<1xf32>
  %mz = reinterpret %z : tensor<1xf32>
  group {
    all_reduce sum %ca ro(%mx) wo(%my) on %s
    all_reduce prod %cb ro(%mx) wo(%mz) on %s
  }
  return %y, %z
}
)";

void check_group(const BackendUnderTest& backend) {
  const auto trial =
      run(backend, kGroup, {tensor("4xf32=[2 3 5 7]"), tensor("4xf32=0"), tensor("4xf32=0")});
  ASSERT_NE(trial, nullptr);
  const auto y = trial->interpreter->global_result(0);
  const auto z = trial->interpreter->global_result(1);
  ASSERT_TRUE(y && z);
  EXPECT_EQ(*y, tensor("4xf32=[7 10 7 10]"));
  EXPECT_EQ(*z, tensor("4xf32=[6 6 35 35]"));
}

// Without a group both sends wait forever: a send is a rendezvous on every backend.
constexpr const char* kFacing = R"(mesh @m = <r=2>
host @f on @m (%x: shard<2xf32, @m, [{r}]>) -> (%y: shard<2xf32, @m, [{r}]>) {
  %c = comm over {r}
  %s = stream "main"
  %y = alloc on %s : shard<2xf32, @m, [{r}]>
  send %c peer(1 - rank) ro(%x) on %s
  recv %c peer(1 - rank) wo(%y) on %s
  return %y
}
)";

// Each rank enters its collectives in a different order.
constexpr const char* kCrossed = R"(mesh @m = <r=2>
host @f on @m (inout %x: tensor<2xf32>, inout %y: tensor<2xf32>) -> (%x: tensor<2xf32>) {
  %c = comm over {r}
  %d = comm over {r}
  %s = stream "main"
  where rank == 0 {
    all_reduce sum %c rw(%x) on %s
    all_reduce sum %d rw(%y) on %s
  } else {
    all_reduce sum %d rw(%y) on %s
    all_reduce sum %c rw(%x) on %s
  }
  return %x
}
)";

constexpr const char* kMismatch = R"(mesh @m = <r=2>
host @f on @m (inout %x: tensor<2xf32>) -> (%x: tensor<2xf32>) {
  %c = comm over {r}
  %s = stream "main"
  where rank == 0 {
    all_reduce sum %c rw(%x) on %s
  } else {
    all_reduce max %c rw(%x) on %s
  }
  return %x
}
)";

}  // namespace

void add_transfer_cases(CaseList& cases) {
  for (const DType dtype : kAllDTypes) {
    cases.push_back({fmt::format("values_sent_round_a_ring_{}", name(dtype)),
                     [dtype](const BackendUnderTest& b) { check_ring(b, dtype); }});
  }
  cases.push_back({"transfer_round_a_ring", [](const BackendUnderTest& b) {
                     EXPECT_NE(run(b, ring(DType::kF32), {eight(DType::kF32)}), nullptr);
                   }});
  cases.push_back({"transfer_in_order_of_ordinals", [](const BackendUnderTest& b) {
                     EXPECT_NE(run(b, kOrdinals, ordinal_inputs()), nullptr);
                   }});
  cases.push_back({"values_in_order_of_ordinals", check_ordinals});
  cases.push_back({"values_of_a_group_of_collectives", check_group});
  cases.push_back({"transfer_two_sends_that_face_each_other", [](const BackendUnderTest& b) {
                     expect_fault(b, kFacing, {tensor("2xf32=1")}, "deadlock");
                   }});
  cases.push_back({"transfer_collectives_that_cross", [](const BackendUnderTest& b) {
                     expect_fault(b, kCrossed, {tensor("2xf32=1"), tensor("2xf32=1")}, "deadlock");
                   }});
  cases.push_back({"transfer_members_that_disagree", [](const BackendUnderTest& b) {
                     expect_fault(b, kMismatch, {tensor("2xf32=1")}, "collective_mismatch");
                   }});
}

}  // namespace hostir::conformance
