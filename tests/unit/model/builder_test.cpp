// A Run on facts that its source does not provide.

#include "interp/model/builder.h"

#include <gtest/gtest.h>

namespace hostir::model {
namespace {

Communicator world(Rank ranks) {
  Communicator out;
  out.name = "world";
  out.members.emplace();
  for (Rank r = 0; r < ranks; ++r) out.members->push_back(r);
  return out;
}

bool has_gap(const Run& run, Gap::Kind kind, Rank rank) {
  for (const Gap& gap : run.gaps) {
    if (gap.kind == kind && gap.rank == rank) return true;
  }
  return false;
}

TEST(RunBuilder, TellsNotArrivedFromNotRecorded) {
  RunBuilder builder;
  const CommunicatorId comm = builder.communicator(world(4));
  builder.rank(0);
  builder.rank(1);
  builder.rank(2).record = RecordState::kCut;
  builder.arrive(comm, 5, 0);
  const model::Run run = std::move(builder).finish();
  ASSERT_EQ(run.ranks.size(), 4U);
  EXPECT_EQ(run.ranks[3].record, RecordState::kMissing);
  EXPECT_TRUE(has_gap(run, Gap::Kind::kRankMissing, 3));
  const Meeting* meeting = run.meeting(comm, 5);
  ASSERT_NE(meeting, nullptr);
  ASSERT_EQ(meeting->members.size(), 4U);
  EXPECT_EQ(meeting->members[0].state, MemberState::kScheduled);
  EXPECT_EQ(meeting->members[1].state, MemberState::kNotArrived);
  EXPECT_EQ(meeting->members[2].state, MemberState::kUnknown);
  EXPECT_EQ(meeting->members[3].state, MemberState::kUnknown);
}

TEST(RunBuilder, WhatARingLostIsNotKnown) {
  RunBuilder builder;
  const CommunicatorId comm = builder.communicator(world(2));
  builder.rank(0);
  builder.rank(1);
  builder.arrive(comm, 3, 0);
  builder.arrive(comm, 8, 0);
  builder.lost_before(1, comm, 7);
  const model::Run run = std::move(builder).finish();
  EXPECT_EQ(run.meeting(comm, 3)->member(1)->state, MemberState::kUnknown);
  EXPECT_EQ(run.meeting(comm, 8)->member(1)->state, MemberState::kNotArrived);
  EXPECT_TRUE(has_gap(run, Gap::Kind::kBeginsLate, 1));
  EXPECT_EQ(run.range(0, comm)->last, 8U);
  EXPECT_FALSE(run.range(0, comm)->first);
}

TEST(RunBuilder, SomebodyWhoIsNoMemberIsAContradiction) {
  RunBuilder builder;
  const CommunicatorId comm = builder.communicator(world(2));
  builder.arrive(comm, 0, 2);
  const model::Run run = std::move(builder).finish();
  EXPECT_TRUE(has_gap(run, Gap::Kind::kContradiction, 2));
  EXPECT_EQ(run.meeting(comm, 0)->members.size(), 3U);
}

TEST(RunBuilder, EqualThingsAreOne) {
  RunBuilder builder;
  EXPECT_EQ(builder.communicator(world(3)), builder.communicator(world(3)));
  EXPECT_NE(builder.communicator(world(3)), builder.communicator(world(2)));
  Instruction frame;
  frame.frames = {{"forward", {"train.py", 42}}};
  EXPECT_EQ(builder.instruction(frame), builder.instruction(frame));
  EXPECT_EQ(place_text(frame), "train.py:42");
  frame.frames[0].place.line = 43;
  EXPECT_NE(builder.instruction(frame).index, 0U);
}

TEST(Call, ComparesOnlyWhatBothState) {
  Call a;
  a.kind = OpKind::all_reduce;
  a.reduction = Reduction::kSum;
  a.dtype = DType::kF32;
  a.shape = Extents{2, 3};
  EXPECT_EQ(call_text(a), "all_reduce sum f32[2,3]");
  Call b;
  b.kind = OpKind::all_reduce;
  EXPECT_TRUE(agree(a, b));
  EXPECT_FALSE(states_same(a, b));
  b.dtype = DType::kI32;
  EXPECT_FALSE(agree(a, b));
  EXPECT_EQ(call_text(b), "all_reduce i32[?]");
  Call unknown;
  unknown.name = "coalesced";
  EXPECT_FALSE(agree(a, unknown));
  EXPECT_EQ(call_text(unknown), "coalesced");
}

}  // namespace
}  // namespace hostir::model
