// Verdicts on runs with incomplete information, like dumps of other tools.

#include "interp/model/verdict.h"

#include <gtest/gtest.h>

#include "interp/diagnose/text/mismatch_card.h"
#include "interp/model/builder.h"

namespace hostir::diagnose {
namespace {

using model::CommunicatorId;
using model::Member;
using model::MemberState;
using model::Motion;
using model::Rank;
using model::RunBuilder;

class Dump {
 public:
  explicit Dump(Rank ranks) : ranks_(ranks) {
    for (Rank r = 0; r < ranks; ++r) builder_.rank(r);
    world_ = comm("default_pg");
  }

  CommunicatorId comm(const std::string& name) {
    model::Communicator c;
    c.name = name;
    c.members.emplace();
    for (Rank r = 0; r < ranks_; ++r) c.members->push_back(r);
    return builder_.communicator(c);
  }

  Member& call(Rank rank, uint64_t sequence, OpKind kind, MemberState state, int64_t elems = 4) {
    return call_on(world_, rank, sequence, kind, state, elems);
  }
  Member& call_on(CommunicatorId comm, Rank rank, uint64_t sequence, OpKind kind, MemberState state,
                  int64_t elems = 4) {
    Member& m = builder_.arrive(comm, sequence, rank);
    m.state = state;
    m.call.kind = kind;
    m.call.dtype = DType::kF32;
    m.call.total_elems = elems;
    m.call.shape = Extents{elems};
    m.order = order_++;
    return m;
  }

  RunBuilder& builder() { return builder_; }
  model::Verdict verdict(Motion motion) {
    builder_.run().motion = motion;
    return diagnose(std::move(builder_).finish());
  }

 private:
  Rank ranks_;
  RunBuilder builder_;
  CommunicatorId world_;
  uint64_t order_ = 0;
};

constexpr auto kReduce = OpKind::all_reduce;
constexpr auto kGather = OpKind::all_gather;

TEST(Verdict, NamesTheRankThatDidNotCome) {
  Dump dump(4);
  for (const Rank r : {0, 1, 3}) dump.call(r, 7, kReduce, MemberState::kStarted);
  const model::Verdict v = dump.verdict(Motion::kStuck);
  EXPECT_EQ(v.kind, "deadlock");
  EXPECT_EQ(
      v.sentence,
      "rank 2 never came to all_reduce f32[4] seq 7 on default_pg, in which ranks 0, 1, 3 wait; "
      "none of its calls are recorded");
}

TEST(Verdict, SlowIsNotStuck) {
  Dump dump(4);
  for (const Rank r : {0, 1, 3}) dump.call(r, 7, kReduce, MemberState::kStarted);
  const model::Verdict v = dump.verdict(Motion::kUnknown);
  EXPECT_FALSE(v.is_fault()) << v.sentence;
}

TEST(Verdict, AMissingFileIsNotAMissingRank) {
  Dump dump(3);
  for (const Rank r : {0, 1}) dump.call(r, 7, kReduce, MemberState::kStarted);
  dump.builder().rank(2).record = model::RecordState::kMissing;
  const model::Verdict v = dump.verdict(Motion::kStuck);
  EXPECT_EQ(
      v.sentence,
      "ranks 0, 1 wait in all_reduce f32[4] seq 7 on default_pg; it is not known whether rank 2 "
      "came to it");
  ASSERT_EQ(v.not_known.size(), 1u);
  EXPECT_EQ(v.not_known[0], "rank 2: there is no record");
}

TEST(Verdict, ADeadRankIsNamedSo) {
  Dump dump(3);
  for (const Rank r : {0, 1}) dump.call(r, 7, kReduce, MemberState::kStarted);
  dump.builder().rank(2).state = model::RankState::kDead;
  EXPECT_EQ(
      dump.verdict(Motion::kStuck).sentence,
      "rank 2 died and never came to all_reduce f32[4] seq 7 on default_pg, in which ranks 0, "
      "1 wait; none of its calls are recorded");
}

// Rank 1 did not arrive because it is waiting itself: the chain leads to rank 2.
TEST(Verdict, FollowsTheChainToWhoHoldsUpAll) {
  Dump dump(3);
  const CommunicatorId tp = dump.comm("tp");
  dump.call(0, 7, kReduce, MemberState::kStarted);
  dump.call(2, 7, kReduce, MemberState::kStarted);
  dump.call_on(tp, 0, 3, kGather, MemberState::kStarted);
  dump.call_on(tp, 1, 3, kGather, MemberState::kStarted);
  dump.builder().rank(2).state = model::RankState::kDone;
  const model::Verdict v = dump.verdict(Motion::kStuck);
  EXPECT_EQ(v.sentence,
            "rank 2 never came to all_gather f32[4] seq 3 on tp, in which ranks 0, 1 wait; it "
            "finished");
}

TEST(Verdict, CommunicatorsInOppositeOrders) {
  Dump dump(2);
  const CommunicatorId tp = dump.comm("tp");
  dump.call(0, 0, kReduce, MemberState::kScheduled);
  dump.call_on(tp, 0, 0, kGather, MemberState::kScheduled);
  dump.call_on(tp, 1, 0, kGather, MemberState::kScheduled);
  dump.call(1, 0, kReduce, MemberState::kScheduled);
  EXPECT_EQ(
      dump.verdict(Motion::kStuck).sentence,
      "ranks wait for each other in a circle: rank 0 waits for rank 1 in all_reduce f32[4] seq 0 "
      "on default_pg, rank 1 waits for rank 0 in all_gather f32[4] seq 0 on tp");
}

TEST(Verdict, AllCameAndNothingCompletes) {
  Dump dump(2);
  dump.call(0, 4, kReduce, MemberState::kStarted);
  dump.call(1, 4, kReduce, MemberState::kScheduled);
  EXPECT_EQ(
      dump.verdict(Motion::kStuck).sentence,
      "no rank is accused: 1 of 1 calls on record is in flight; as far as is recorded, all "
      "members of all_reduce f32[4] seq 4 on default_pg are in it with the same call; the GPUs "
      "of rank 0 have started it, rank 1 has not: earlier work on its stream holds it up, or "
      "its GPU has stopped");
}

TEST(Verdict, AMismatchNeedsNoWatchdog) {
  Dump dump(3);
  dump.call(0, 2, kReduce, MemberState::kStarted);
  dump.call(1, 2, kReduce, MemberState::kStarted, 8);
  dump.call(2, 2, kReduce, MemberState::kStarted);
  const model::Verdict v = dump.verdict(Motion::kUnknown);
  EXPECT_EQ(v.kind, "collective_mismatch");
  EXPECT_EQ(
      v.sentence,
      "rank 1 calls all_reduce f32[8] seq 2 on default_pg where ranks 0, 2 call all_reduce f32[4]; "
      "ranks 0, 1, 2 wait in all_reduce seq 2 on default_pg");
  EXPECT_EQ(v.culprit, 1u);
  ASSERT_EQ(v.sides.size(), 2u);
  EXPECT_TRUE(v.sides[0].expected);
}

// A ring buffer that starts late says nothing about the calls it lost.
TEST(Verdict, WhatARingLostIsNoAccusation) {
  Dump dump(2);
  dump.call(0, 3, kReduce, MemberState::kStarted);
  dump.call(1, 9, kReduce, MemberState::kStarted);
  dump.builder().lost_before(1, CommunicatorId(0U), 9);
  const model::Verdict v = dump.verdict(Motion::kStuck);
  EXPECT_EQ(v.sentence.find("rank 1 never came to all_reduce f32[4] seq 3"), std::string::npos)
      << v.sentence;
  EXPECT_NE(v.sentence.find("it is not known whether rank 1 came to it"), std::string::npos)
      << v.sentence;
}

TEST(MismatchCard, ACallThatOneRankLeavesOut) {
  Dump dump(3);
  for (const Rank r : {0, 1, 2}) {
    dump.call(r, 0, kReduce, MemberState::kCompleted);
    if (r != 2) dump.call(r, 1, kGather, MemberState::kStarted, 8);
    const uint64_t next = r == 2 ? 1 : 2;
    dump.call(r, next, kReduce, MemberState::kScheduled, 2);
    dump.call(r, next + 1, OpKind::broadcast, MemberState::kScheduled, 3);
  }
  const model::Run run = std::move(dump.builder()).finish();
  const MismatchCard card = mismatch_card(run, *run.meeting(CommunicatorId(0U), 1));
  EXPECT_TRUE(card.majority);
  EXPECT_EQ(card.cause,
            "rank 2 leaves out all_gather f32[8] (place not known); the calls after it fit each "
            "other.");
  ASSERT_EQ(card.columns.size(), 2u);
  EXPECT_EQ(card.columns[1], 2);
}

}  // namespace
}  // namespace hostir::diagnose
