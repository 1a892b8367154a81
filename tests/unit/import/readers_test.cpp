// One small text per format, and the contents of the run made from it.
#include <gtest/gtest.h>

#include <string>

#include "interp/diagnose/recorded.h"
#include "traces/import/assemble/assemble.h"
#include "traces/import/read_dumps.h"

namespace hostir::traces::import {
namespace {

using diagnose::Charge;

std::vector<ProcessDump> dumps_of(const std::string& bytes, const std::string& path) {
  auto file = read_dump(bytes, path);
  EXPECT_TRUE(file) << file.error().message();
  return file ? std::move(file->dumps) : std::vector<ProcessDump>();
}

diagnose::RecordedVerdict verdict_of(std::vector<ProcessDump> dumps, model::Run& run) {
  auto made = assemble(std::move(dumps));
  EXPECT_TRUE(made) << made.error().message();
  if (made) run = std::move(*made);
  return diagnose::judge(run);
}

std::string read_error(const std::string& bytes) {
  const auto file = read_dump(bytes, "trace_0");
  return file ? "" : file.error().message();
}

TEST(FlightRecorder, JsonOfTheReference) {
  const auto dumps = dumps_of(
      R"({"version":"2.10","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},)"
      R"("pg_status":{"0":{"last_enqueued_collective":"7","last_started_collective":"7",)"
      R"("last_completed_collective":"6"}},"entries":[{"record_id":12,"pg_id":0,)"
      R"("process_group":["0","default_pg"],"collective_seq_id":7,"p2p_seq_id":0,"op_id":7,)"
      R"("profiling_name":"nccl:all_reduce","time_created_ns":1767000000000000000,)"
      R"("input_sizes":[[1024]],"input_dtypes":["Float"],"output_sizes":[[1024]],)"
      R"("output_dtypes":["Float"],"state":"started",)"
      R"("time_discovered_started_ns":1767000000001000000,"time_discovered_completed_ns":0,)"
      R"("retired":false,"timeout_ms":600000,"is_p2p":false}]})",
      "trace_1.json");
  ASSERT_EQ(dumps.size(), 1U);
  const ProcessDump& dump = dumps.front();
  EXPECT_EQ(dump.rank, 1);
  EXPECT_TRUE(dump.start_lost);
  ASSERT_EQ(dump.groups.size(), 1U);
  EXPECT_EQ(dump.groups[0].members, (std::vector<model::Rank>{0, 1}));
  EXPECT_EQ(dump.groups[0].last_enqueued, 7);
  ASSERT_EQ(dump.calls.size(), 1U);
  const DumpCall& call = dump.calls.front();
  EXPECT_EQ(call.sequence, 7U);
  EXPECT_EQ(call.call.kind, OpKind::all_reduce);
  EXPECT_EQ(call.call.dtype, DType::kF32);
  EXPECT_EQ(call.call.total_elems, 1024);
  EXPECT_EQ(call.state, model::MemberState::kStarted);
  EXPECT_EQ(call.times.issued_ns, 1767000000000000000);
  EXPECT_EQ(call.times.finished_ns, std::nullopt);
}

TEST(FlightRecorder, AnotherMajorVersionIsRefused) {
  EXPECT_NE(read_error(R"({"version":"3.0","entries":[]})").find("versions 2.x"),
            std::string::npos);
}

TEST(FlightRecorder, GzipBeyondItsEndIsRefused) {
  EXPECT_NE(read_error(std::string("\x1f\x8b\x08\x00\x00", 5))
                .find("it ends too early: the file is cut off or damaged"),
            std::string::npos);
}

TEST(FlightRecorder, NestedJsonIsRefused) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_NE(read_error("{\"entries\": " + deep + "}").find("deeper than 64"), std::string::npos);
  EXPECT_NE(read_error(deep).find("is not a dump of a known recorder"), std::string::npos);
}

std::string clog_of(int rank, const std::string& rest) {
  return "V|1|base_timestamp=1767000000.000\nnew_comm|comm=world|rank=" + std::to_string(rank) +
         "|world_size=3\n"
         "C1|sig|broadcast|in_count=8|out_count=8|dtype=bf16|root=" +
         (rank == 1 ? "1" : "0") + "|async_op=t|comm=world\n" + rest;
}

TEST(Clog, TheRootThatDiffersIsNamed) {
  std::vector<ProcessDump> dumps;
  for (int r = 0; r < 3; ++r) {
    for (ProcessDump& dump :
         dumps_of(clog_of(r, "C1|Q|work_id=1|+0.104\nC1|S|+0.105\n"), "job.clog"))
      dumps.push_back(std::move(dump));
  }
  EXPECT_EQ(dumps[1].rank, 1);
  EXPECT_EQ(dumps[1].calls.front().times.issued_ns, 1767000000104000000);
  EXPECT_EQ(dumps[1].calls.front().state, model::MemberState::kStarted);
  model::Run run;
  const auto verdict = verdict_of(std::move(dumps), run);
  EXPECT_EQ(verdict.charge, Charge::kDifferentCall);
  EXPECT_EQ(verdict.culprits, (std::vector<model::Rank>{1})) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("root 1"), std::string::npos) << verdict.sentence;
}

TEST(Clog, StartsAndEndsMatchFirstInFirstOut) {
  const auto dumps = dumps_of(clog_of(0,
                                      "C1|Q|work_id=1|+0.1\nC1|Q|work_id=2|+0.2\nC1|S|+0.3\n"
                                      "C1|E|+0.4\nC1|S|+0.5\nstrange\n"),
                              "a");
  ASSERT_EQ(dumps.front().calls.size(), 2U);
  EXPECT_EQ(dumps.front().calls[0].state, model::MemberState::kCompleted);
  EXPECT_EQ(dumps.front().calls[1].state, model::MemberState::kStarted);
  EXPECT_EQ(dumps.front().calls[1].sequence, 2U);
  EXPECT_EQ(dumps.front().remarks.size(), 1U);
}

TEST(Ras, ACounterOneBehindIsDoubted) {
  auto dumps =
      dumps_of(R"({"nccl_version":"2.28","communicators":[{"hash":"0x5f1c","size":3,"ranks":[)"
               R"({"rank":0,"host":"a","pid":11,"collective_counts":{"AllReduce":8}},)"
               R"({"rank":1,"host":"a","pid":12,"collective_counts":{"AllReduce":7}},)"
               R"({"rank":2,"host":"b","pid":11,"collective_counts":{"AllReduce":8}}]}]})",
               "ras.json");
  EXPECT_EQ(dumps.size(), 3U);
  model::Run run;
  const auto verdict = verdict_of(std::move(dumps), run);
  EXPECT_FALSE(verdict.is_fault()) << verdict.sentence;
  ASSERT_NE(verdict.if_stuck, nullptr) << verdict.sentence;
  EXPECT_EQ(verdict.if_stuck->charge, Charge::kNeverCame);
  EXPECT_EQ(verdict.if_stuck->culprits, (std::vector<model::Rank>{1})) << verdict.sentence;
  // Ranks with the same remark share a sentence.
  ASSERT_EQ(verdict.not_known.size(), 2U);
  EXPECT_EQ(verdict.not_known[0],
            "rank 1: only 7 AllReduce on communicator 0x5f1c, and others made 8");
  EXPECT_EQ(verdict.not_known[1].find("ranks 0, 1, 2: calls on communicator 0x5f1c"), 0U)
      << verdict.not_known[1];
}

TEST(NcclDebug, CallsOfInterleavedProcesses) {
  std::string text;
  for (const char* process : {"h0:11", "h0:12", "h1:11"}) {
    const std::string rank = process[1] == '1' ? "2" : process[4] == '1' ? "0" : "1";
    text += std::string(process) + ":20 [0] NCCL INFO ncclCommInitRank comm 0x55aa rank " + rank +
            " nranks 3 cudaDev 0 nvmlDev 0 busId 1000 commId 0x5f1c - Init COMPLETE\n";
    text += "noise of the program\n" + std::string(process) +
            ":20 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count 64 "
            "datatype 7 op " +
            (rank == "2" ? "2" : "0") + " root 0 comm 0x55aa [nranks=3] stream 0x5600\n";
  }
  auto dumps = dumps_of(text, "nccl.log");
  ASSERT_EQ(dumps.size(), 3U);
  model::Run run;
  const auto verdict = verdict_of(std::move(dumps), run);
  EXPECT_EQ(verdict.charge, Charge::kDifferentCall);
  EXPECT_EQ(verdict.culprits, (std::vector<model::Rank>{2})) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("all_reduce max"), std::string::npos) << verdict.sentence;
}

TEST(NcclDebug, ACutLastLineIsNoCallLeftOut) {
  std::vector<ProcessDump> dumps;
  for (const char* rank : {"0", "1", "2"}) {
    const std::string process = std::string("h0:1") + rank;
    std::string text = process + ":20 [0] NCCL INFO ncclCommInitRank comm 0x55aa rank " + rank +
                       " nranks 3 cudaDev 0 nvmlDev 0 busId 1000 commId 0x5f1c - Init COMPLETE\n";
    for (const char* count : {"0", "1"}) {
      text += process + ":20 [0] NCCL INFO AllReduce: opCount " + count +
              " sendbuff 0x7f00 recvbuff 0x7f00 count 64 datatype 7 op 0 root 0 comm 0x55aa "
              "[nranks=3] stream 0x5600\n";
    }
    if (*rank == '1') text.resize(text.size() - 50);
    for (ProcessDump& dump : dumps_of(text, "nccl.log")) dumps.push_back(std::move(dump));
  }
  ASSERT_EQ(dumps.size(), 3U);
  EXPECT_TRUE(dumps[1].cut);
  model::Run run;
  const auto verdict = verdict_of(std::move(dumps), run);
  EXPECT_EQ(verdict.charge, Charge::kNoRecord) << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("rank 1, whose record ends before this call"), std::string::npos)
      << verdict.sentence;
  ASSERT_EQ(verdict.not_known.size(), 1U);
  EXPECT_NE(verdict.not_known[0].find("rank 1: its record ends in the middle of a line"),
            std::string::npos);
}

TEST(Inspector, FinishedCallsAreRead) {
  const auto dumps =
      dumps_of(R"({"header":{"id":"0x5f1c","comm_name":"unknown","rank":0,"n_ranks":2,"nnodes":1},)"
               R"("metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":5,)"
               R"("hostname":"h0","pid":4242},"coll_perf":{"coll":"AllReduce","coll_sn":7}})"
               "\n{\"header\": cut\n",
               "h0-pid4242.log");
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_EQ(dumps.front().rank, 0);
  EXPECT_EQ(dumps.front().computer, "h0");
  ASSERT_EQ(dumps.front().calls.size(), 1U);
  EXPECT_EQ(dumps.front().calls.front().sequence, 7U);
  EXPECT_EQ(dumps.front().remarks.size(), 1U);
}

TEST(ReadDumps, WhatIsNoneIsRefused) {
  EXPECT_NE(read_error("hello").find("not a dump of a known recorder"), std::string::npos);
  EXPECT_NE(read_error("").find("is empty"), std::string::npos);
  EXPECT_NE(read_error(R"({"traceEvents":[]})").find("profile"), std::string::npos);
}

}  // namespace
}  // namespace hostir::traces::import
