// Writes the rows of a log from a model::Run: the parts of log_builder.cpp. Used once, by
// write_log().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "interp/model/verdict.h"
#include "traces/database/sqlite.h"
#include "traces/writer/log_builder.h"
#include "traces/writer/run_description.h"

namespace hostir::traces {

/// One event of the log: a member's call, an unfinished task, or a wait that a task depends on.
struct BuiltEvent {
  const model::Member* member = nullptr;
  const model::Task* task = nullptr;
  model::CommunicatorId communicator;
  uint64_t sequence = 0;
  std::optional<model::Rank> peer;
  model::TaskId awaited = model::kNoTask;  // for a wait
  model::StreamId stream;
  model::Rank rank = model::kNoRank;
  int64_t instruction = -1;
  int64_t loop_path = 0;
  std::tuple<int64_t, uint64_t, int> order;
};

class LogBuilder {
  using Member = model::Member;
  using Rank = model::Rank;
  using Run = model::Run;

 public:
  LogBuilder(const Run& run, const LogBuilderOptions& options) : run_(run), options_(options) {}

  Expected<void> write(const std::string& path);

 private:
  Expected<void> write_tables(Database& database);

  // ---- times

  bool has_wall_clock() const;

  /// Wall clocks count from the earliest time of the run; every clock gets its known offset.
  void find_origin();

  std::optional<int64_t> common(std::optional<int64_t> ns, model::ClockId clock) const;

  // ---- the program

  void describe();

  static InstructionDescription described(const model::Instruction& i);

  void describe_communicators();

  /// The log's instruction for a call: that of the Run or, if the rank made a different call there
  /// before, a copy of it.
  int64_t instruction_for(const Member& member, model::CommunicatorId communicator);

  void add_site(int64_t index, const Member& member, const std::string& kind,
                model::CommunicatorId communicator);

  // ---- events

  void collect_events();

  /// Sort key for the order of issue over all ranks: by time if known, and within a rank always
  /// consistent with its known order.
  std::tuple<int64_t, uint64_t, int> order_of(const Member& m, uint64_t sequence) const;

  void add_task(const model::Task& task);

  /// When it was issued or, if that is unknown, when it began.
  std::optional<int64_t> begin_of(const model::Times& times) const;

  int64_t wait_instruction(model::StreamId stream);

  /// The row of `loop_path` for `%i=3, %j=4`, added if new; 0: outside of loops.
  int64_t loop_path(const std::string& loops);
  int64_t loop_instruction(const std::string& variable);
  Expected<void> write_loop_paths();

  static void bind(Statement& s, int index, std::optional<int64_t> value);

  Expected<void> write_events();

  model::TaskId task_of(const BuiltEvent& e) const;

  static std::optional<int64_t> bytes_of(const model::Call& call);

  Expected<void> write_collective(Statement& s, int64_t id, const BuiltEvent& e);

  Expected<void> write_untimed(int64_t id, std::string_view state);

  Expected<void> write_call(Statement& s, int64_t id, const BuiltEvent& e);

  // ---- the rest

  Expected<void> write_group_facts();

  Expected<void> write_states();

  Expected<void> write_gaps();

  Expected<void> write_end();

  Expected<void> write_fault(const model::Verdict& verdict);

  const Run& run_;
  const LogBuilderOptions& options_;
  RunDescription description_;
  Database* database_ = nullptr;  // while write_tables() runs
  int64_t origin_ns_ = 0;
  std::vector<int64_t> declaration_;  // by communicator of the Run
  std::vector<uint32_t> group_;
  std::map<std::pair<model::InstructionId, uint32_t>, int64_t> twin_;
  std::map<std::pair<int64_t, Rank>,
           std::tuple<std::string, std::optional<Reduction>, std::optional<DType>, uint32_t>>
      site_;  // by the log's instruction
  std::map<model::StreamId, int64_t> wait_;
  struct LoopPath {
    int64_t id = 0;
    int64_t parent = 0;
    int64_t instruction = 0;
    int64_t iteration = 0;
  };
  std::map<std::string, LoopPath> loop_paths_;  // by text
  std::vector<BuiltEvent> events_;
  std::set<model::TaskId> written_;  // tasks written as the event of their only member
  std::set<const Member*> grouped_;  // members whose task has another event
};

}  // namespace hostir::traces
