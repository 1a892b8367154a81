// What every rank issued, with device times: for expectations about collectives and order.
#pragma once

#include <unordered_map>
#include <vector>

#include "interp/core/code.h"
#include "interp/core/trace_sink.h"

namespace hostir::script {

struct RecordedEvent {
  interp::Rank rank = 0;
  interp::CodeIndex code = 0;
  interp::CommIndex comm = 0;
  int64_t bytes = 0;
  int64_t started_ns = -1;   // of asynchronous instructions, once finished
  int64_t finished_ns = -1;  // -1: never finished
};

/// A sink in front of another one (may be null, not owned).
class EventRecorder final : public interp::TraceSink {
 public:
  explicit EventRecorder(interp::TraceSink* next) : next_(next) {}

  const std::vector<RecordedEvent>& events() const { return events_; }  // in order of issue

  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;
  void value(const interp::ValueSummary& summary) override;
  void decision(const interp::DecisionRecord& record) override;
  void fault(const interp::FaultRecord& record) override;
  void called(const interp::CallRecord& record) override;
  void rank_state(const interp::RankStateRecord& record) override;
  void loop_path(interp::LoopPathId id, interp::LoopPathId parent, interp::CodeIndex loop,
                 int64_t iteration) override;

 private:
  interp::TraceSink* next_;
  std::vector<RecordedEvent> events_;
  std::unordered_map<interp::TaskId, std::vector<size_t>> by_task_;
  // Communication in an open `group { }`, by rank: it gets the task of the group.
  std::unordered_map<interp::Rank, std::vector<size_t>> open_group_;
};

}  // namespace hostir::script
