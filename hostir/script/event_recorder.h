// Records the instructions that each rank issues, with device times, for expectations about
// collectives and order.
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
  int64_t started_ns = -1;   // asynchronous instructions only, set when finished
  int64_t finished_ns = -1;  // -1: never finished
};

/// Records events and forwards them to `next` (not owned, may be null).
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
  // Communication inside an open `group { }`, by rank; it gets the group's task id.
  std::unordered_map<interp::Rank, std::vector<size_t>> open_group_;
};

}  // namespace hostir::script
