// Reads a log into a model::Run: the parts of log_model.cpp.
//
// Used once, by run_of(). Every id from the file is checked before it is used as an index.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "interp/model/builder.h"
#include "traces/reader/undone_events.h"
#include "traces/recorded/log_model.h"

namespace hostir::traces {

class ModelReader {
  using LogEvent = interp::LogEvent;
  using Rank = interp::Rank;
  using CommunicatorId = model::CommunicatorId;
  using InstructionId = model::InstructionId;
  using Member = model::Member;

 public:
  ModelReader(const LogReader& log, const LogModelOptions& options)
      : log_(log), options_(options), limits_(log.tables().limits()) {}

  Expected<model::Run> read();

 private:
  static constexpr std::string_view kLastEventSql =
      "SELECT MAX(n) FROM (SELECT MAX(id) n FROM event_row UNION ALL SELECT MAX(last_id) FROM "
      "event_block)";

  Expected<void> for_rows(std::string_view sql,
                          const std::function<Expected<void>(const Statement&)>& take);

  /// For tables that logs of older versions may not have.
  Expected<void> for_rows_of(std::string_view table, std::string_view sql,
                             const std::function<Expected<void>(const Statement&)>& take);

  bool shows(int64_t event) const;
  bool is_rank(int64_t rank) const { return rank >= 0 && rank < limits_.rank_count; }
  InstructionId instruction_id(int64_t index) const;

  void add_run();

  Expected<void> add_frames();

  Expected<void> add_communicators();

  CommunicatorId communicator_id(int64_t comm, int64_t group) const;

  // ---- ranks

  Expected<void> add_ranks();

  Expected<void> add_states();

  /// False if the user went back in the history and continued differently.
  bool is_of_the_end(const Statement& row) const;

  Expected<void> read_last_events();

  // For a log without states: ranks that returned are done; in a closed log without faults, all
  // are.
  void derive_states();

  std::string loops_of(int64_t path);

  // ---- collectives

  struct CallFact {
    int64_t event = 0;
    std::optional<int32_t> root;
    std::optional<int64_t> total_elems;
    std::optional<int64_t> row_elems;
    std::optional<Extents> shape;
    std::optional<uint64_t> fingerprint;
  };

  Expected<void> add_calls();

  const CallFact* call_fact(int64_t instruction, int64_t rank, int64_t event) const;

  std::optional<Extents> local_shape(const Statement& row, int column, int64_t rank) const;

  // Columns of the query in add_collectives().
  enum Column : int {
    kEvent,
    kRank,
    kInstruction,
    kComm,
    kSequence,
    kPeer,
    kArrival,
    kStart,
    kFinish,
    kKind,
    kReduction,
    kDType,
    kSend,
    kRecv,
    kGroup
  };

  model::Call call_of(const Statement& row) const;

  Expected<void> add_collectives();

  Expected<void> add_untimed();

  Expected<void> add_collective(const Statement& row);

  void fill(Member& member, const Statement& row, const LogEvent* task);

  Rank member_at(CommunicatorId comm, int64_t position);

  // ---- work in flight

  Expected<void> add_tasks();

  bool is_in_group(int64_t instruction) const;
  bool groups_logged() const;

  const LogEvent* group_task(Rank rank, int64_t member_event) const;

  // ---- the rest

  Expected<void> add_gaps();

  Expected<void> add_motion();

  const LogReader& log_;
  const LogModelOptions options_;
  const EventLimits limits_;
  Database* database_ = nullptr;
  model::RunBuilder builder_;
  interp::Lineage lineage_;
  std::vector<EventRange> undone_;
  int64_t last_event_ = -1;
  uint64_t last_decision_ = 0;
  std::map<Rank, LogEvent> last_of_rank_;
  bool has_states_ = false;
  std::optional<model::Motion> motion_;
  std::vector<uint32_t> first_group_;  // by communicator of the log
  std::map<int64_t, std::string> loops_;
  std::map<std::pair<int64_t, int64_t>, std::vector<CallFact>> calls_;  // by instruction, rank
  std::map<int64_t, model::MemberState> untimed_;                       // by event
  std::map<int64_t, LogEvent> pending_;                                 // by event
  std::map<std::pair<Rank, CommunicatorId>, uint64_t> first_sequence_;
};

/// The state with this name; `last` is the last enumerator.
template <class State>
std::optional<State> by_name(std::string_view text, State last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name(static_cast<State>(i)) == text) return static_cast<State>(i);
  }
  return std::nullopt;
}

}  // namespace hostir::traces
