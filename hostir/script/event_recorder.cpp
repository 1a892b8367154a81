#include "hostir/script/event_recorder.h"

#include <utility>

namespace hostir::script {

void EventRecorder::issued(const interp::IssuedRecord& r) {
  if (r.task != interp::kNoTask) {
    std::vector<size_t>& events = by_task_[r.task];
    events = std::exchange(open_group_[r.rank], {});
    events.push_back(events_.size());
  } else if (r.comm != interp::kNoComm) {
    open_group_[r.rank].push_back(events_.size());
  }
  events_.push_back({r.rank, r.code, r.bytes, -1, -1});
  ForwardingSink::issued(r);
}

void EventRecorder::finished(const interp::FinishedRecord& r) {
  const auto found = by_task_.find(r.task);
  if (found != by_task_.end()) {
    for (const size_t i : found->second) {
      events_[i].started_ns = r.started_ns;
      events_[i].finished_ns = r.finished_ns;
    }
    by_task_.erase(found);
  }
  ForwardingSink::finished(r);
}

}  // namespace hostir::script
