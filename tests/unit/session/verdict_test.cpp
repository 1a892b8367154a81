// One hang, one verdict: from the live run, from its log (closed, or cut by SIGKILL), without the
// program text, with missing rank records, and from a log made from a Run alone.

#include "interp/model/verdict.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "interp/core/interpreter.h"
#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/recorded.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"
#include "interp/session/commands/places.h"
#include "interp/session/snapshots/snapshot_builder.h"
#include "live_run.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/traces/synthetic_run.h"
#include "traces/export/queries.h"
#include "traces/import/assemble/assemble.h"
#include "traces/recorded/log_model.h"
#include "traces/recorded/log_session.h"
#include "traces/replay/replay.h"
#include "traces/writer/log_builder.h"
#include "traces/writer/trace_writer.h"

namespace hostir::interp {
namespace {

struct StuckProgram {
  std::string file;
  std::string function;
  std::vector<Rank> ranks;  // ranks that start; empty: all
};

std::ostream& operator<<(std::ostream& out, const StuckProgram& stuck) {
  return out << stuck.function << (stuck.ranks.empty() ? "" : " on some ranks");
}

std::vector<StuckProgram> all_stuck() {
  std::vector<StuckProgram> out;
  for (const char* file :
       {"tests/scripts/stuck/deadlocks.hir", "tests/scripts/stuck/mismatches.hir"}) {
    const auto text = io::read_file(file);
    const auto program = text ? text::parse_program(*text) : tl::unexpected(text.error());
    if (!program) {  // its test fails
      out.push_back({file, "does_not_parse", {}});
      continue;
    }
    for (const Function& f : program->functions) {
      if (f.kind == FunctionKind::kHost) out.push_back({file, f.name, {}});
    }
  }
  out.push_back({"tests/scripts/stuck/deadlocks.hir", "one_iteration_too_many", {0, 1}});
  return out;
}

struct LiveResult {
  Fault fault;
  model::Run known;  // at the end
};

enum class Ending { kClosed, kKilled };

/// Runs with a log; does not return for kKilled.
Expected<LiveResult> run_live(const StuckProgram& stuck, const std::string& log, Ending ending) {
  HOSTIR_ASSIGN_OR_RETURN(const std::string text, io::read_file(stuck.file));
  HOSTIR_ASSIGN_OR_RETURN(const Program program, text::parse_program(text));
  PrepareOptions how;
  how.function = stuck.function;
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, prepare(program, {}, how));
  RunOptions options;
  options.backend.name = "sim";
  options.backend.machine = *find_builtin_machine("h200x8");
  options.ranks = stuck.ranks;
  traces::RunDescription description = traces::describe(*prepared, options.backend);
  description.started_ranks = stuck.ranks;
  HOSTIR_ASSIGN_OR_RETURN(auto writer, traces::TraceWriter::create(log, description));
  options.trace = writer.get();
  LiveResult out;
  options.ended = [&](const Interpreter& interpreter) { out.known = interpreter.run_model(); };
  HOSTIR_ASSIGN_OR_RETURN(const RunResult result, run(*prepared, make_sim, options));
  if (ending == Ending::kKilled) {
    if (writer->flush()) raise(SIGKILL);
    _exit(1);
  }
  HOSTIR_TRY(writer->close());
  if (result.worst() == nullptr) return fail(ErrorKind::kRuntime, "test", "nothing went wrong");
  out.fault = *result.worst();
  return out;
}

/// The verdict derived from the log, ignoring the logged faults.
std::string verdict_of(const std::string& path) {
  const auto log = traces::open_log(path);
  if (!log) return "cannot be opened: " + log.error().message();
  const auto run = traces::run_of(**log);
  if (!run) return "cannot be read: " + run.error().message();
  const model::Verdict verdict = diagnose::diagnose(*run);
  return verdict.kind + ": " + verdict.sentence;
}

// In a long run the oldest collective that is read lacks members whose rows came before it. It was
// completed all the same.
TEST(LedgerOfALog, TheOldestRowReadIsDoneWithUnknownMembers) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("long.db");
  {
    auto writer = traces::TraceWriter::create(path, traces::testing::synthetic_description(3));
    ASSERT_TRUE(writer);
    traces::testing::SyntheticRun run(**writer, 3);
    run.iterate(100);
    ASSERT_TRUE((*writer)->close());
  }
  const auto log = traces::open_log(path);
  ASSERT_TRUE(log);
  auto known = traces::run_of(**log, {.max_collectives = 100});
  ASSERT_TRUE(known);
  const auto rows = make_ledger_snapshot(std::make_shared<const model::Run>(std::move(*known)));
  ASSERT_EQ(rows->size(), 34U);
  int unknown = 0;
  for (const LedgerCell& cell : rows->front().cells)
    unknown += cell.state == LedgerCell::State::kUnknown ? 1 : 0;
  EXPECT_GT(unknown, 0);
  for (const LedgerRow& row : *rows) EXPECT_EQ(row.state, LedgerRow::State::kDone) << row.sequence;
}

void change(const std::string& path, const std::string& sql) {
  auto database = traces::Database::open(path, traces::Database::Mode::kReadWrite);
  ASSERT_TRUE(database) << database.error().message();
  const auto done = database->execute(sql);
  ASSERT_TRUE(done) << done.error().message();
}

class OneVerdict : public testing::TestWithParam<StuckProgram> {
 protected:
  void SetUp() override {
    auto live = run_live(GetParam(), scratch_.file("closed.db"), Ending::kClosed);
    ASSERT_TRUE(live) << live.error().message();
    live_ = std::move(*live);
    wanted_ = live_.fault.record.kind + ": " + live_.fault.record.sentence;
  }

  ScratchDirectory scratch_;
  LiveResult live_;
  std::string wanted_;
};

TEST_P(OneVerdict, OfTheModelOfTheLiveRun) {
  const model::Verdict verdict = diagnose::diagnose(live_.known);
  EXPECT_EQ(verdict.kind + ": " + verdict.sentence, wanted_);
}

TEST_P(OneVerdict, OfTheClosedLog) { EXPECT_EQ(verdict_of(scratch_.file("closed.db")), wanted_); }

TEST_P(OneVerdict, OfTheReplay) {
  const auto report = traces::replay(scratch_.file("closed.db"), make_sim);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_FALSE(report->divergence) << report->divergence->sentence;
}

/// The killed run is another process image: a fork of this one would lack its threads.
class KilledRun : public testing::TestWithParam<StuckProgram> {};

TEST_P(KilledRun, LeavesALogWithTheSameVerdict) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ScratchDirectory scratch;
  // The other process starts this test again, and finds the name that this one chose.
  constexpr const char* kLogName = "HOSTIR_TEST_KILLED_LOG";
  setenv(kLogName, scratch.file("cut.db").c_str(), /*overwrite=*/0);
  const std::string path = getenv(kLogName);
  EXPECT_EXIT((void)run_live(GetParam(), path, Ending::kKilled), testing::KilledBySignal(SIGKILL),
              "");
  unsetenv(kLogName);
  const auto live = run_live(GetParam(), scratch.file("closed.db"), Ending::kClosed);
  ASSERT_TRUE(live) << live.error().message();
  const auto log = traces::open_log(path);
  ASSERT_TRUE(log) << log.error().message();
  EXPECT_EQ((*log)->run().ending, LogEnding::kCut);
  EXPECT_EQ(verdict_of(path), live->fault.record.kind + ": " + live->fault.record.sentence);
}

TEST_P(OneVerdict, ShownWithoutProgramTextAndFaults) {
  const std::string path = scratch_.file("closed.db");
  change(path,
         "DELETE FROM source; DELETE FROM phase_row; DELETE FROM fault; "
         "UPDATE run SET ended_unix_ns = NULL, outcome = NULL");
  auto log = traces::open_log(path);
  ASSERT_TRUE(log) << log.error().message();
  const auto session = traces::LogSession::create(std::move(*log), "it has no text");
  ASSERT_TRUE(session) << session.error().message();
  const SnapshotPtr shot = (*session)->snapshot();
  ASSERT_EQ(shot->faults->size(), 1u);
  EXPECT_EQ(shot->faults->front().kind + ": " + shot->faults->front().sentence, wanted_);
  EXPECT_EQ(shot->faults->front().ranks, live_.fault.record.ranks);
  EXPECT_EQ(shot->faults->front().instructions, live_.fault.record.instructions);
  EXPECT_EQ(shot->faults->front().notes, live_.fault.record.notes);
  EXPECT_NE(shot->waits->sentence, "Nobody waits.");
  // Nothing stands in for the program: it is a list of instructions, and every question that does
  // not need operands is answered.
  EXPECT_EQ(shot->program->code, nullptr);
  ASSERT_EQ(shot->program->lines.size(), shot->program->instructions.size());
  ASSERT_EQ(shot->program->instructions.size(), live_.known.instructions.size());
  const std::string last = shot->program->instructions.back().address;
  for (const std::string& command :
       {std::string("list"), "list " + last, std::string("info program"), std::string("info colls"),
        std::string("info layout"), std::string("backtrace rank all")}) {
    const auto parsed = parse_command(command);
    ASSERT_TRUE(parsed) << command;
    const auto outcome = (*session)->execute(*parsed, {});
    ASSERT_TRUE(outcome) << command << ": " << outcome.error().message();
    EXPECT_FALSE(outcome->text.empty()) << command;
  }
  const auto unknown = find_places(*parse_place("%no_such_value"), *shot->program);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("no program text"), std::string::npos);
}

TEST_P(OneVerdict, OfALogMadeFromTheRunAlone) {
  const std::string path = scratch_.file("built.db");
  const auto written = traces::write_log(path, live_.known,
                                         {.verdict = traces::LogBuilderOptions::Verdict::kLeftOut});
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(verdict_of(path), wanted_);
}

/// What a recorder in `rank`'s process would hold: its groups, and its calls in order; not its
/// host.
traces::import::ProcessDump dump_of(const model::Run& run, Rank rank,
                                    const std::vector<diagnose::MemberRef>& calls) {
  traces::import::ProcessDump dump;
  dump.producer = "a recorder";
  dump.file = fmt::format("rank_{}", rank);
  dump.rank = rank;
  dump.world_size = static_cast<int64_t>(run.ranks.size());
  dump.motion = run.motion;
  dump.motion_source = "a watchdog";
  for (uint32_t c = 0; c < run.communicators.size(); ++c) {
    dump.groups.push_back(
        {.name = run.communicators[c].name,
         .description = diagnose::communicator_name(run, model::CommunicatorId(c)),
         .members = run.communicators[c].members});
  }
  for (const model::Instruction& at : run.instructions)
    dump.stacks.push_back({{"", {model::place_text(at), {}}}});
  for (const diagnose::MemberRef& ref : calls) {
    using Shape = traces::import::DumpCall::Shape;
    traces::import::DumpCall& call = dump.calls.emplace_back();
    call.group = ref.communicator().index;
    call.sequence = ref.sequence();
    call.call = ref.member->call;
    call.call.fingerprint.reset();
    call.state = ref.member->state;
    call.stack = ref.member->instruction.index + size_t{1};
    if (ref.pair == nullptr) continue;
    call.shape = ref.sends() ? Shape::kSend : Shape::kRecv;
    const std::vector<Rank>& members = *dump.groups[call.group].members;
    call.peer = std::ranges::find(members, ref.peer()) - members.begin();
  }
  return dump;
}

// A dump does not say that a host returned or never started.
std::string without_hosts(std::string sentence) {
  for (const char* state : {"it finished", "they finished", "it never started"}) {
    const std::string clause = std::string("; ") + state;
    for (size_t at = sentence.find(clause); at != std::string::npos; at = sentence.find(clause)) {
      const bool is_followed = sentence.compare(at + clause.size(), 6, "; its ") == 0 ||
                               sentence.compare(at + clause.size(), 6, "; the ") == 0;
      sentence.replace(at, clause.size(), is_followed ? "" : "; none of its calls are recorded");
    }
  }
  return sentence;
}

TEST_P(OneVerdict, OfDumpsOfItsProcesses) {
  const auto calls = diagnose::calls_by_rank(live_.known);
  std::vector<traces::import::ProcessDump> dumps;
  for (size_t r = 0; r < calls.size(); ++r)
    dumps.push_back(dump_of(live_.known, static_cast<Rank>(r), calls[r]));
  const auto run = traces::import::assemble(std::move(dumps));
  ASSERT_TRUE(run) << run.error().message();
  const diagnose::RecordedVerdict judged = diagnose::judge(*run);
  EXPECT_EQ(judged.sentence, without_hosts(live_.fault.record.sentence));
}

// Whatever is missing, no rank is accused of something unknown.
TEST_P(OneVerdict, AccusesNoRankWhoseRecordIsMissing) {
  const auto ranks = static_cast<Rank>(live_.known.ranks.size());
  for (Rank gone = 0; gone < ranks; ++gone) {
    const std::string path = scratch_.file(fmt::format("without_{}.db", gone));
    std::filesystem::copy_file(scratch_.file("closed.db"), path);
    change(path, fmt::format("UPDATE rank SET local = 0 WHERE rank = {0}; DELETE FROM event_row "
                             "WHERE rank = {0}; DELETE FROM collective_row WHERE rank = {0}; "
                             "DELETE FROM rank_state WHERE rank = {0}; DELETE FROM fault",
                             gone));
    const auto log = traces::open_log(path);
    ASSERT_TRUE(log) << log.error().message();
    const auto run = traces::run_of(**log);
    ASSERT_TRUE(run) << run.error().message();
    EXPECT_EQ(run->ranks[static_cast<size_t>(gone)].record, model::RecordState::kMissing);
    const model::Verdict verdict = diagnose::diagnose(*run);
    const std::string name = fmt::format("rank {}", gone);
    for (const char* accuses : {" never ", " calls", " makes", " left out", " names", " waits"})
      EXPECT_EQ(verdict.sentence.find(name + accuses), std::string::npos) << verdict.sentence;
    const bool said = std::any_of(verdict.not_known.begin(), verdict.not_known.end(),
                                  [&](const std::string& gap) { return gap.starts_with(name); });
    EXPECT_TRUE(said) << name;
    // What the other records prove is told.
    const bool differ = std::any_of(run->meetings.begin(), run->meetings.end(), diagnose::disagree);
    EXPECT_EQ(verdict.kind == "collective_mismatch",
              differ || std::any_of(run->pairs.begin(), run->pairs.end(), diagnose::sides_differ))
        << verdict.sentence;
  }
}

// A job that is killed in a hang, before the engine has noticed the hang.
TEST_P(OneVerdict, OfALogWithoutStates) {
  const std::string path = scratch_.file("without_states.db");
  std::filesystem::copy_file(scratch_.file("closed.db"), path);
  change(path, "DELETE FROM fault; DELETE FROM rank_state; UPDATE run SET outcome = NULL");
  const auto log = traces::open_log(path);
  ASSERT_TRUE(log) << log.error().message();
  const auto run = traces::run_of(**log);
  ASSERT_TRUE(run) << run.error().message();
  const model::Verdict verdict = diagnose::diagnose(*run);
  // Only the states show that a host waits, or that a rank never started.
  const bool proved =
      GetParam().function != "host_waits_before_it_comes" && GetParam().ranks.empty();
  EXPECT_EQ(verdict.sentence, proved ? live_.fault.record.sentence : "");
  const auto faults = traces::faults_table(**log);
  ASSERT_TRUE(faults) << faults.error().message();
  EXPECT_EQ(faults->rows.size(), proved ? 1U : 0U);
}

// One file per process, each with its own clock, read as one run.
TEST_P(OneVerdict, OfASetOfFiles) {
  const auto ranks = static_cast<Rank>(live_.known.ranks.size());
  const std::string folder = scratch_.file("set");
  std::filesystem::create_directory(folder);
  for (Rank own = 0; own < ranks; ++own) {
    const std::string path = fmt::format("{}/{}.db", folder, own);
    std::filesystem::copy_file(scratch_.file("closed.db"), path);
    change(path, fmt::format("UPDATE rank SET local = (rank = {0}); DELETE FROM event_row WHERE "
                             "rank <> {0}; DELETE FROM collective_row WHERE rank <> {0}; DELETE "
                             "FROM rank_state WHERE rank <> {0}; DELETE FROM fault; UPDATE "
                             "event_row SET host_start_ns = host_start_ns + {1}, host_end_ns = "
                             "host_end_ns + {1}, queued_ns = queued_ns + {1}, start_ns = start_ns "
                             "+ {1}, finish_ns = finish_ns + {1}; UPDATE collective_row SET "
                             "arrival_ns = arrival_ns + {1}, start_ns = start_ns + {1}, finish_ns "
                             "= finish_ns + {1}",
                             own, own * 1'000'000));
  }
  EXPECT_EQ(verdict_of(folder), wanted_);
  const auto log = traces::open_log(folder);
  ASSERT_TRUE(log) << log.error().message();
  const auto whole = traces::open_log(scratch_.file("closed.db"));
  ASSERT_TRUE(whole);
  EXPECT_EQ((*log)->events({})->size(), (*whole)->events({})->size());
  // A completed collective ends at the same time on all ranks once the clocks are aligned.
  std::map<std::pair<CommIndex, uint64_t>, int64_t> ended;
  const auto collectives = (*log)->collectives({});
  ASSERT_TRUE(collectives);
  for (const LogCollective& c : *collectives) {
    if (c.finish_ns == kUnknownNs || c.peer >= 0) continue;
    const auto [at, added] = ended.emplace(std::pair(c.comm, c.sequence), c.finish_ns);
    EXPECT_EQ(at->second, c.finish_ns);
  }
}

std::string name_of(const testing::TestParamInfo<StuckProgram>& test) {
  return test.param.function + (test.param.ranks.empty() ? "" : "_some");
}
INSTANTIATE_TEST_SUITE_P(Scripts, OneVerdict, testing::ValuesIn(all_stuck()), name_of);
INSTANTIATE_TEST_SUITE_P(Scripts, KilledRun, testing::ValuesIn(all_stuck()), name_of);

}  // namespace
}  // namespace hostir::interp
