// Times of tasks when not every task records events (BackendOptions::sampled_times).
//
// An event between two tasks costs the device 1 to 4 us, as much as a short kernel. So only the
// first executions of an instruction, and one in many after that, have events of their own. The
// others share one event per window of about kWindowNs. The window lies between two events; its
// tasks divide it in proportion to what their instructions took when they were measured. A window
// with a single task is exact, so long kernels always are. Tasks that wait for other streams, that
// meet other ranks on their device, or whose event the program names, record events as without a
// log.
#include <fmt/core.h>

#include <algorithm>

#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

namespace {

constexpr uint64_t kMeasuredFirst = 8;     // executions
constexpr uint64_t kMeasuredEvery = 1024;  // executions

}  // namespace

bool DeviceBackend::samples() const {
  return keeps_times() && options_.sampled_times && !is_one_by_one() && options_.schedule == 0;
}

bool DeviceBackend::measures_all() const { return keeps_times() && !samples(); }

size_t DeviceBackend::timer_of(const Held& task) const {
  return task.code * static_cast<size_t>(code_->rank_count) + static_cast<size_t>(task.rank);
}

size_t DeviceBackend::timer_of_graph(size_t graph) {
  const size_t timer =
      code_->instructions.size() * static_cast<size_t>(code_->rank_count) + graph;
  if (timer >= durations_.size()) durations_.resize(timer + 1);
  return timer;
}

// Counts an execution. True if it is to be measured.
bool DeviceBackend::is_due(size_t timer) {
  const uint64_t run = durations_[timer].runs++;
  return run < kMeasuredFirst || run % kMeasuredEvery == 0;
}

int64_t DeviceBackend::share_of(size_t timer) const {
  return std::max<int64_t>(1, durations_[timer].ns);
}

// Called before the task enters the queue.
void DeviceBackend::add_share(Queue& queue, InFlight& task) {
  if (task.ended != nullptr) {
    task.ended->share_ns += task.share_ns;
  } else {
    queue.unmarked_ns += task.share_ns;
  }
}

// Called in the order of the stream, when the task's last event has happened.
void DeviceBackend::estimate(Queue& queue, InFlight& task) {
  Window& window = queue.window;
  if (task.joins) {
    task.estimate = window.last;
    ++estimated_tasks_;
    return;
  }
  if (task.on_host_clock || task.share_ns == 0) return;
  if (window.done_ns >= window.total_ns) {
    const int64_t end_ns = task.ended->time_ns();
    const int64_t begin_ns = task.started != nullptr
                                 ? task.started->time_ns()
                                 : std::max(window.span.end_ns, task.issued_ns);
    window = {{std::min(begin_ns, end_ns), end_ns}, task.ended->share_ns, 0, {}};
  }
  const auto at = [&](int64_t done_ns) {
    const double part = static_cast<double>(done_ns) / static_cast<double>(window.total_ns);
    const auto length = static_cast<double>(window.span.end_ns - window.span.begin_ns);
    return window.span.begin_ns + static_cast<int64_t>(part * length);
  };
  window.last.begin_ns = at(window.done_ns);
  const bool alone = window.done_ns == 0 && window.total_ns <= task.share_ns;
  window.done_ns += task.share_ns;
  window.last.end_ns = window.done_ns >= window.total_ns ? window.span.end_ns : at(window.done_ns);
  task.estimate = window.last;
  ++(alone ? timed_tasks_ : estimated_tasks_);
  if (!task.measured || !alone) return;
  // The least of the first ones: before the first kernels the device waits for the host. Then a
  // mean that follows changes.
  Duration& known = durations_[task.timer];
  const int64_t took_ns = window.last.end_ns - window.last.begin_ns;
  if (known.measured == 0) {
    known.ns = took_ns;
  } else {
    known.ns = known.measured < kMeasuredFirst ? std::min(known.ns, took_ns)
                                               : (3 * known.ns + took_ns) / 4;
  }
  ++known.measured;
}

// For the log.
std::string DeviceBackend::times_text() const {
  std::string events = "CUDA events";
  if (estimated_tasks_ > 0) {
    events += fmt::format(
        " around {} tasks; {} tasks divide the time between two events in proportion to what they "
        "took when they were measured. HOSTIR_CUDA_TIMES=exact measures all",
        timed_tasks_, estimated_tasks_);
  }
  if (activities_ == nullptr) return events + ": " + no_activities_;
  return fmt::format("CUPTI for {} tasks; CUDA events for {}, whose records came too late ({})",
                     measured_, not_measured_, activities_->description());
}

}  // namespace hostir::cuda
