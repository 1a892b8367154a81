// Compares the events of a replay with the log as they arrive.
//
// The replay's records are joined into events by the assembler that the writer uses, so event n
// here is event n in the log. Values are compared in order of completion. Only work in flight is
// kept in memory. The earliest divergence is kept.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/core/interpreter.h"
#include "traces/database/static_rows.h"
#include "traces/reader/log_reader.h"
#include "traces/replay/replay.h"
#include "traces/writer/event_assembler.h"

namespace hostir::traces {

class ReplayChecker final : public interp::TraceSink {
 public:
  /// `log` and `code` outlive the checker.
  ReplayChecker(const LogReader& log, const interp::Code& code, ProgramDescription program);

  Expected<void> prepare(Database& database);
  /// Required to report the contents of values that differ.
  void set_interpreter(const interp::Interpreter* interpreter) { interpreter_ = interpreter; }

  /// Receives every write that comes with contents (traces/writer/contents_sink.h). Return false to
  /// stop.
  using OnContents = std::function<bool(const interp::PastWrite&, std::span<const std::byte>)>;
  void collect(OnContents take) { take_ = std::move(take); }
  /// True if the receiver needs no more: the run may end here.
  bool enough() const { return enough_; }

  /// Sets the next logged event, before it is executed again.
  void expect(const interp::LogEvent& event);
  /// Call after the last event.
  void finish();
  void report(Divergence divergence);

  // ---- events of the replay
  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;
  void value(const interp::ValueSummary& summary) override;
  void decision(const interp::DecisionRecord&) override {}
  void fault(const interp::FaultRecord& record) override;
  void loop_path(interp::LoopPathId, interp::LoopPathId, interp::CodeIndex, int64_t) override {}

  const std::optional<Divergence>& divergence() const { return divergence_; }
  const Expected<void>& error() const { return error_; }  // errors of reading the log
  int64_t events() const { return events_; }
  int64_t values() const { return values_; }
  const std::vector<interp::FaultRecord>& faults() const { return faults_; }

 private:
  Divergence at(const interp::LogEvent& event, std::string what) const;
  void compare(const interp::LogEvent& got);
  void compare_faults();
  Expected<void> compare_value(const interp::ValueSummary& summary);
  void hand_on(const interp::ValueSummary& summary);
  void find_element(Divergence& divergence, const interp::ValueSummary& summary, int64_t tensor,
                    uint64_t logged_data) const;

  const LogReader& log_;
  const interp::Code& code_;
  const ProgramDescription program_;
  const interp::Interpreter* interpreter_ = nullptr;
  const bool cut_;
  const bool compare_times_;
  EventAssembler assembler_;
  std::unordered_map<int64_t, interp::LogEvent> expected_;
  std::vector<interp::FaultRecord> faults_;
  Statement logged_values_;
  bool values_end_ = false;
  int64_t events_ = 0;
  int64_t values_ = 0;
  std::optional<Divergence> divergence_;
  OnContents take_;
  bool enough_ = false;
  Expected<void> error_;
};

}  // namespace hostir::traces
