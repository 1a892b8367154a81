// What holds before and between tasks: capabilities, writing, reading, editing.
#include <fmt/core.h>

#include "cases.h"
#include "trial.h"

namespace hostir::conformance {

namespace {

// 5 rows over 4 ranks: 2, 2, 1, 0.
std::string identity_on_four(DType dtype) {
  const std::string shard = fmt::format("shard<5x3x{}, @m, [{{r}}, {{}}]>", name(dtype));
  return fmt::format(
      "mesh @m = <r=4>\nhost @f on @m (inout %x: {}) -> (%x: {}) {{\n  return %x\n}}\n", shard,
      shard);
}

Tensor counting(DType dtype) {
  Tensor out = Tensor::zeros(dtype, {5, 3});
  for (int64_t i = 0; i < 15; ++i) {
    out.set_double(i, static_cast<double>(dtype == DType::kI1 ? i % 2 : i + 1));
  }
  return out;
}

void check_capabilities(const BackendUnderTest& backend) {
  const auto trial = run(backend, identity_on_four(DType::kF32), {counting(DType::kF32)});
  ASSERT_NE(trial, nullptr);
  const interp::Capabilities can = trial->backend->capabilities();
  EXPECT_FALSE(can.name.empty());
  const std::vector<Rank> all{0, 1, 2, 3};
  EXPECT_EQ(can.local_ranks.empty() ? all : can.local_ranks, all) << "one process has all ranks";
  for (const Rank rank : all)
    EXPECT_EQ(trial->interpreter->rank(rank).status, interp::RankStatus::kDone) << rank;
  if (trial->backend->checkpoints() == nullptr) return;
  EXPECT_TRUE(trial->backend->checkpoints()->checkpoint());
}

void check_bound_values(const BackendUnderTest& backend, DType dtype) {
  const Tensor global = counting(dtype);
  const auto trial = run(backend, identity_on_four(dtype), {global});
  ASSERT_NE(trial, nullptr);
  const auto whole = trial->interpreter->global_result(0);
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, global);
  EXPECT_EQ(trial->result(3).element_count(), 0);
  for (Rank rank = 0; rank < 3; ++rank) {
    const Tensor part = trial->result(rank);
    for (int64_t i = 0; i < part.element_count(); ++i) {
      EXPECT_EQ(part.get_double(i), global.get_double(rank * 6 + i)) << "rank " << rank;
    }
  }
}

// One element in the middle of a rank's part, in global coordinates.
void check_box(const BackendUnderTest& backend) {
  const auto trial = run(backend, identity_on_four(DType::kF32), {counting(DType::kF32)});
  ASSERT_NE(trial, nullptr);
  const auto ref = trial->interpreter->result(1, 0);
  ASSERT_TRUE(ref);
  const auto inside = trial->backend->read(1, *ref, Box{{3, 1}, {4, 3}});
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->extents, (Extents{1, 2}));
  EXPECT_EQ(inside->get_double(0), 11);
  EXPECT_EQ(inside->get_double(1), 12);
}

void check_box_outside(const BackendUnderTest& backend) {
  const auto trial = run(backend, identity_on_four(DType::kF32), {counting(DType::kF32)});
  ASSERT_NE(trial, nullptr);
  const auto ref = trial->interpreter->result(1, 0);
  ASSERT_TRUE(ref);
  const auto outside = trial->backend->read(1, *ref, Box{{0, 0}, {1, 3}});
  ASSERT_FALSE(outside) << "rank 1 has no row 0";
  EXPECT_EQ(outside.error().diagnostics.front().id, "backend_read");
}

void check_edit(const BackendUnderTest& backend) {
  const auto trial = start(backend, identity_on_four(DType::kF32), {counting(DType::kF32)});
  ASSERT_NE(trial, nullptr);
  const Tensor seven = tensor("f32=77");
  const auto live = trial->interpreter->allocations(1);
  ASSERT_EQ(live.size(), 1u);
  ASSERT_TRUE(trial->interpreter->edit(1, live.front().id, 4 * 4, seven.data));
  trial->finish();
  const Tensor part = trial->result(1);
  ASSERT_EQ(part.element_count(), 6);
  EXPECT_EQ(part.get_double(3), 10);
  EXPECT_EQ(part.get_double(4), 77);
  EXPECT_EQ(part.get_double(5), 12);
  EXPECT_EQ(trial->result(0).get_double(4), 5) << "another rank's memory";
}

void check_write_outside(const BackendUnderTest& backend) {
  const auto trial = start(backend, identity_on_four(DType::kF32), {counting(DType::kF32)});
  ASSERT_NE(trial, nullptr);
  const auto live = trial->interpreter->allocations(1);
  ASSERT_EQ(live.size(), 1u);
  const Tensor two = tensor("2xf32=1");
  const auto outside =
      trial->backend->write(1, live.front().id, *live.front().placement, 20, two.data);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().diagnostics.front().id, "backend_write");
}

}  // namespace

void add_setup_cases(CaseList& cases) {
  cases.push_back({"setup_capabilities", check_capabilities});
  for (const DType dtype : kAllDTypes) {
    cases.push_back({fmt::format("values_bound_{}", name(dtype)),
                     [dtype](const BackendUnderTest& b) { check_bound_values(b, dtype); }});
  }
  cases.push_back({"values_read_of_a_box", check_box});
  cases.push_back({"refusal_read_outside_of_the_part", check_box_outside});
  cases.push_back({"values_edit_between_decisions", check_edit});
  cases.push_back({"refusal_write_outside_of_the_allocation", check_write_outside});
}

}  // namespace hostir::conformance
