// Streams for calls of sources that name none.
#include "traces/writer/call_streams.h"

#include <gtest/gtest.h>

#include "interp/model/builder.h"

namespace hostir::traces {
namespace {

model::Communicator group(std::string name, std::vector<model::Rank> members) {
  model::Communicator c;
  c.name = std::move(name);
  c.description = "tp (group " + c.name + ")";
  c.members = std::move(members);
  return c;
}

void fill(model::Member& m, uint64_t order, int64_t issued_ns, std::optional<int64_t> finished_ns) {
  m.state = finished_ns ? model::MemberState::kCompleted : model::MemberState::kScheduled;
  m.order = order;
  m.times.issued_ns = issued_ns;
  m.times.finished_ns = finished_ns;
}

// Ranks 0 and 1 have two groups called `tp`; rank 0 also sends to rank 1.
model::Run made() {
  model::RunBuilder builder;
  const auto a = builder.communicator(group("1", {0, 1}));
  const auto b = builder.communicator(group("2", {0, 1, 2}));
  const auto clock = builder.clock({model::ClockKind::kWall, "host", {}});
  fill(builder.arrive(a, 1, 0), 1, 100, 400);
  fill(builder.arrive(a, 2, 0), 2, 200, 700);  // behind the first
  fill(builder.arrive(b, 1, 0), 3, 300, std::nullopt);
  fill(builder.arrive(b, 2, 0), 4, 310, std::nullopt);  // behind one that has not ended
  fill(builder.send(a, 0, 1, 1), 5, 320, 350);
  fill(builder.arrive(a, 1, 1), 1, 110, 390);
  model::Run run = std::move(builder).finish();
  for (model::Meeting& meeting : run.meetings) {
    for (model::Member& m : meeting.members) m.times.issued_clock = m.times.execution_clock = clock;
  }
  for (model::SendRecv& pair : run.pairs)
    pair.send.times.issued_clock = pair.send.times.execution_clock = clock;
  add_call_streams(run);
  return run;
}

const model::Task& task_of(const model::Run& run, uint32_t communicator, uint64_t sequence) {
  const model::Member* m = run.meeting(model::CommunicatorId(communicator), sequence)->member(0);
  return *run.task(m->task);
}

TEST(CallStreams, OnePerCommunicatorOfARankAndOneForSends) {
  const model::Run run = made();
  std::vector<std::string> names;
  for (const model::Stream& s : run.streams) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"tp", "tp 2", "tp p2p"}));
  EXPECT_EQ(run.tasks.size(), 6U);
  EXPECT_EQ(run.streams[run.task(run.pairs[0].send.task)->stream.index].name, "tp p2p");
}

TEST(CallStreams, ACallIsReadyWhenItsStreamIsFree) {
  const model::Run run = made();
  EXPECT_EQ(task_of(run, 0, 1).times.ready_ns, 100);
  EXPECT_EQ(task_of(run, 0, 2).times.ready_ns, 400);
  EXPECT_EQ(task_of(run, 1, 1).times.ready_ns, 300);
  EXPECT_FALSE(task_of(run, 1, 2).times.ready_ns) << "the call before it has not ended";
  EXPECT_EQ(task_of(run, 1, 1).state, model::TaskState::kQueued);
  EXPECT_EQ(task_of(run, 0, 2).state, model::TaskState::kFinished);
}

TEST(CallStreams, ARunWithTasksAndCallsWithoutTimesStayAsTheyAre) {
  model::RunBuilder builder;
  const auto a = builder.communicator(group("1", {0, 1}));
  fill(builder.arrive(a, 1, 0), 1, 100, 400);
  builder.task(model::make_task_id(0, 0));
  model::Run run = std::move(builder).finish();
  add_call_streams(run);
  EXPECT_TRUE(run.streams.empty());
  model::RunBuilder untimed;
  untimed.arrive(untimed.communicator(group("1", {0, 1})), 1, 0).state =
      model::MemberState::kScheduled;
  run = std::move(untimed).finish();
  add_call_streams(run);
  EXPECT_TRUE(run.tasks.empty());
}

}  // namespace
}  // namespace hostir::traces
