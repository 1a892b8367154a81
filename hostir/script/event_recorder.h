// Records the instructions that each rank issues, with device times, for expectations about
// collectives and order.
#pragma once

#include <unordered_map>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/core/forwarding_sink.h"

namespace hostir::script {

struct RecordedEvent {
  interp::Rank rank = 0;
  interp::CodeIndex code = 0;
  int64_t bytes = 0;
  int64_t started_ns = -1;   // asynchronous instructions only, set when finished
  int64_t finished_ns = -1;  // -1: never finished
};

/// A sink in front of another one (may be null, not owned).
class EventRecorder final : public interp::ForwardingSink {
 public:
  using ForwardingSink::ForwardingSink;

  const std::vector<RecordedEvent>& events() const { return events_; }  // in order of issue

  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;

 private:
  std::vector<RecordedEvent> events_;
  std::unordered_map<interp::TaskId, std::vector<size_t>> by_task_;
  // Communication inside an open `group { }`, by rank; it gets the group's task id.
  std::unordered_map<interp::Rank, std::vector<size_t>> open_group_;
};

}  // namespace hostir::script
