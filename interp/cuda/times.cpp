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
  const size_t timer = code_->instructions.size() * static_cast<size_t>(code_->rank_count) + graph;
  if (timer >= durations_.size()) durations_.resize(timer + 1);
  return timer;
}

// Counts an execution. True if it is to be measured: all are until the first result is known, since
// the host may be far ahead of the device.
bool DeviceBackend::is_due(size_t timer) {
  Duration& known = durations_[timer];
  const uint64_t run = known.runs++;
  if (known.measured == 0 && run >= kMeasuredFirst) look_now_ = true;
  return known.measured == 0 || run < kMeasuredFirst || run % kMeasuredEvery == 0;
}

// The estimated duration. 0: nothing runs on the device, or another task counts for the whole
// graph.
int64_t DeviceBackend::share_of(const InFlight& task) const {
  if (task.joins || task.on_host_clock) return 0;
  return std::max<int64_t>(1, durations_[task.timer].ns);
}

void DeviceBackend::add_unmarked(Queue& queue, const InFlight& task) const {
  if (task.ended == nullptr) queue.unmarked_ns += share_of(task);
}

// The window of the queue's first task, which ends with its event.
void DeviceBackend::open_window(Queue& queue) const {
  const InFlight& first = queue.in_flight.front();
  const int64_t end_ns = first.ended->time_ns();
  const int64_t begin_ns = first.started != nullptr
                               ? first.started->time_ns()
                               : std::max(queue.window.span.end_ns, first.issued_ns);
  queue.window = {{std::min(begin_ns, end_ns), end_ns}, 0, 0, 0, {}};
  for (const InFlight& task : queue.in_flight) {
    if (task.ended != first.ended) break;
    ++queue.window.tasks_left;
    queue.window.total_ns += share_of(task);
  }
}

// Called for the queue's first task when its last event has happened.
void DeviceBackend::estimate(Queue& queue, InFlight& task) {
  if (task.on_host_clock || task.ended == nullptr) return;
  Window& window = queue.window;
  if (window.tasks_left == 0) open_window(queue);
  --window.tasks_left;
  const int64_t share_ns = share_of(task);
  const bool alone = window.done_ns == 0 && window.total_ns <= share_ns;
  if (share_ns > 0) {
    const auto at = [&](int64_t done_ns) {
      if (done_ns >= window.total_ns) return window.span.end_ns;
      const double part = static_cast<double>(done_ns) / static_cast<double>(window.total_ns);
      const auto length = static_cast<double>(window.span.end_ns - window.span.begin_ns);
      return window.span.begin_ns + static_cast<int64_t>(part * length);
    };
    window.last.begin_ns = at(window.done_ns);
    window.done_ns += share_ns;
    window.last.end_ns = at(window.done_ns);
  }
  task.estimate = window.last;
  ++(alone ? timed_tasks_ : estimated_tasks_);
  if (!task.measured || !alone) return;
  // First the minimum, because the device waits for the host before its first kernels; later a
  // moving average.
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
