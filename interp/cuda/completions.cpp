// Delivers what the device has finished, in a causally consistent order.
#include <fmt/core.h>
#define XXH_INLINE_ALL  // no need to link the library
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "interp/core/code/buffer_layout.h"
#include "interp/core/value_stats.h"
#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

namespace {

constexpr int64_t kLookEveryNs = 50'000'000;    // interval of checks for remote failures
constexpr int64_t kStuckAfterNs = 200'000'000;  // the device takes a moment to report an end

}  // namespace

// Makes the finish time later than that of its dependencies and its predecessor, even if clocks
// disagree.
interp::Completion DeviceBackend::complete(Queue& queue, InFlight& task) const {
  interp::Completion out;
  out.id = task.id;
  out.clock = interp::ClockDomain::kDevice;
  const int64_t floor_ns = std::max(task.issued_ns, queue.finished_ns);
  const auto time_of = [&](const EventRef& event, int64_t unknown) {
    return event == nullptr || task.on_host_clock ? unknown : event->time_ns();
  };
  if (task.estimate && !task.span) {
    out.queued_ns = std::max(task.issued_ns, time_of(task.queued, task.estimate->begin_ns));
    out.started_ns = std::max({floor_ns, out.queued_ns, task.estimate->begin_ns});
    out.finished_ns = std::max(out.started_ns, task.estimate->end_ns);
    return out;
  }
  if (task.span) {
    out.queued_ns = std::max(task.issued_ns, time_of(task.queued, task.issued_ns));
    out.started_ns = std::max(out.queued_ns, clock_->from_steady_ns(task.span->started_ns));
    out.finished_ns =
        std::max({out.started_ns, floor_ns, clock_->from_steady_ns(task.span->finished_ns)});
    return out;
  }
  out.queued_ns = std::max(task.issued_ns, time_of(task.queued, task.issued_ns));
  out.started_ns = std::max({floor_ns, out.queued_ns, time_of(task.started, floor_ns)});
  out.finished_ns = std::max(out.started_ns, time_of(task.ended, floor_ns));
  return out;
}

bool DeviceBackend::collect_queue(Queue& queue, std::vector<Delivery>& out) {
  bool any = false;
  // Check this even if the task shares its event with the previous one: the tasks that it waits for
  // may be on other queues and not delivered yet.
  const auto waits = [&](const InFlight& task) {
    return std::any_of(task.waits.begin(), task.waits.end(),
                       [&](TaskId id) { return enqueued_.contains(id); });
  };
  const auto is_over = [&](InFlight& task) {
    if (task.on_host_clock) return true;
    if (task.ended == nullptr) mark_tail(queue);
    return !waits(task) && queue.device->has_happened(task.ended->handle()) && has_times(task);
  };
  const Event* happened = nullptr;  // tasks may share one
  while (!queue.in_flight.empty()) {
    InFlight& head = queue.in_flight.front();
    const bool shared = happened != nullptr && head.ended.get() == happened;
    if (!shared && !is_over(head)) break;
    if (shared && (waits(head) || !has_times(head))) break;
    happened = head.on_host_clock ? nullptr : head.ended.get();
    if (samples()) estimate(queue, head);
    interp::Completion completion = complete(queue, head);
    for (const TaskId id : head.waits) {
      const auto earlier = collected_ns_.find(id);
      if (earlier == collected_ns_.end()) continue;
      completion.finished_ns = std::max(completion.finished_ns, earlier->second);
    }
    queue.finished_ns = completion.finished_ns;
    if (const auto named = enqueued_.find(head.id); named != enqueued_.end()) {
      collected_ns_[head.id] = completion.finished_ns;
      if (head.on_host_clock) {
        delivered_early_.push_back(head.id);
      } else {
        enqueued_.erase(named);
      }
    }
    if (head.wire_call >= 0) end_call(head.wire_call);
    out.emplace_back(completion, std::move(head.written));
    queue.in_flight.pop_front();
    any = true;
  }
  return any;
}

void DeviceBackend::collect(std::vector<Delivery>& out) {
  collected_ns_.clear();
  while (!delivered_early_.empty()) {
    const auto at = enqueued_.find(delivered_early_.front());
    if (!devices_.front()->has_happened(at->second->handle())) break;
    enqueued_.erase(at);
    delivered_early_.pop_front();
  }
  for (bool again = true; again;) {
    again = false;
    for (Queue& q : queues_) {
      if (!q.in_flight.empty() && collect_queue(q, out)) again = true;
    }
  }
  const auto precedes = [](const Delivery& a, const Delivery& b) {
    return std::tuple(a.first.finished_ns, a.first.id) <
           std::tuple(b.first.finished_ns, b.first.id);  // the upper bits of ids are ranks
  };
  if (!std::is_sorted(out.begin(), out.end(), precedes))
    std::sort(out.begin(), out.end(), precedes);
}

// Without a log, the hosts' clocks only decide when to poll and which rank runs next. Reading the
// real clock costs 2 % of a launch, so seven calls of eight add 1 ns instead. Time must advance at
// every call: equal clocks let one rank run ahead until its launches fill the driver's queue. It
// then blocks this thread, and the rank that it waits for on another device never launches.
int64_t DeviceBackend::coarse_now_ns() const {
  constexpr uint32_t kReadEvery = 8;
  ++coarse_ns_;
  if (coarse_reads_++ % kReadEvery == 0) coarse_ns_ = std::max(coarse_ns_, clock_->now_ns());
  return coarse_ns_;
}

// While some host can issue instructions, completions are polled only now and then: polling after
// every instruction would take longer than issuing it.
bool DeviceBackend::may_look_later(std::span<const interp::HostState> hosts) {
  // Only a log needs times soon after the event. Each of these polls may record an event, which
  // costs the device up to 4 us.
  const int64_t every_ns = !keeps_times() ? 1'000'000 : samples() ? kWindowNs : 50'000;
  if (is_one_by_one() || !failures_.empty()) return false;
  // A host that has just run has read the clock. A frozen one stays runnable.
  bool busy = false;
  int64_t latest_ns = 0;
  for (const interp::HostState& h : hosts) {
    busy = busy || h.kind == interp::HostState::Kind::kRunnable;
    latest_ns = std::max(latest_ns, h.clock_ns);
  }
  const bool moved = latest_ns > std::exchange(hosts_ns_, latest_ns);
  const int64_t now = moved ? latest_ns : now_ns();
  if (busy && now - polled_ns_ < every_ns && !look_now_) return true;
  look_now_ = false;
  polled_ns_ = now;
  return false;
}

interp::Progress DeviceBackend::poll(const interp::Hosts& hosts, interp::CompletionSink& sink) {
  if (kept_tasks_ > 0) end_bodies(hosts.states);
  if (may_look_later(hosts.states)) {
    return is_pending() ? interp::Progress::kPending : interp::Progress::kQuiescent;
  }
  if (!starting_.empty()) {
    std::vector<Queue*> queues = std::move(starting_);
    starting_.clear();
    for (Queue* q : queues) {
      if (q->held.empty()) continue;
      if (network_->is_enqueued(q->held.front().wire_call)) {
        wake(*q);
      } else {
        starting_.push_back(q);
      }
    }
    pump();
  }
  if (is_one_by_one()) start_next();
  hosts_ = hosts.states;
  std::vector<Delivery> done = std::exchange(deliveries_, {});  // keeps its memory
  done.clear();
  collect(done);
  for (const auto& [completion, written] : done) {
    sink.completed(completion);
    if (value_mode_ != ValueMode::kNone) summarise(completion.id, written, sink);
  }
  const bool any = !done.empty();
  if (any) stuck_since_ns_ = 0;
  deliveries_ = std::move(done);
  if (any && failures_.empty()) return interp::Progress::kProgressed;
  look_for_failures();
  for (const auto& [task, error] : failures_) sink.failed(task, error);
  if (!failures_.empty() || any) {
    failures_.clear();
    return interp::Progress::kProgressed;
  }
  return progress();
}

// After a poll that found nothing new.
interp::Progress DeviceBackend::progress() {
  if (!is_pending()) return interp::Progress::kQuiescent;
  if (!is_stuck()) {
    stuck_since_ns_ = 0;
    return interp::Progress::kPending;
  }
  const int64_t now = clock_->now_ns();
  if (stuck_since_ns_ == 0) stuck_since_ns_ = now;
  return now - stuck_since_ns_ < kStuckAfterNs ? interp::Progress::kPending
                                               : interp::Progress::kQuiescent;
}

// True if every stream with work waits in a network call for ranks of this process whose streams
// have not reached theirs.
bool DeviceBackend::is_stuck() const {
  if (meetings_of_call_.empty() || !failures_.empty() || kept_tasks_ > 0) return false;
  std::vector<int64_t> reached;  // the calls that streams are in
  for (const Queue& q : queues_) {
    if (q.in_flight.empty()) continue;
    const InFlight& head = q.in_flight.front();
    if (meetings_of_call_.contains(head.wire_call)) {
      reached.push_back(head.wire_call);
    } else if (std::none_of(head.waits.begin(), head.waits.end(),
                            [&](TaskId id) { return enqueued_.contains(id); })) {
      return false;
    }
  }
  for (const Queue* q : starting_) {
    if (!q->in_flight.empty() || q->held.empty()) continue;
    const int64_t call = q->held.front().wire_call;
    if (meetings_of_call_.contains(call)) reached.push_back(call);
  }
  std::map<MeetingKey, size_t> there;
  for (const int64_t call : reached) {
    for (const MeetingKey& key : meetings_of_call_.at(call)) ++there[key];
  }
  const auto can_end = [&](int64_t call) {
    const auto& keys = meetings_of_call_.at(call);
    return std::all_of(keys.begin(), keys.end(), [&](const MeetingKey& key) {
      return there.at(key) == members_left_.at(key);
    });
  };
  return std::none_of(reached.begin(), reached.end(), can_end);
}

Activities* DeviceBackend::activities() {
  if (!keeps_times() || activities_ != nullptr || !no_activities_.empty()) {
    return activities_.get();
  }
  bool on_gpu = !devices_.empty();
  for (const auto& device : devices_) on_gpu = on_gpu && device->is_measured_by_cupti();
  const char* text = std::getenv("HOSTIR_CUDA_CUPTI");
  const bool wanted = options_.kernel_times || (text != nullptr && std::string_view(text) == "1");
  if (!on_gpu || !wanted) {
    no_activities_ = on_gpu ? "HOSTIR_CUDA_CUPTI is not 1" : "this device has no CUPTI";
    return nullptr;
  }
  auto opened = Activities::open();
  if (opened) {
    activities_ = std::move(*opened);
  } else {
    no_activities_ = opened.error().message();
  }
  return activities_.get();
}

ActivityRef DeviceBackend::begin_activity() {
  if (capturing_ || activities() == nullptr) return nullptr;
  return {new uint64_t(activities_->begin()), [all = activities_](const uint64_t* number) {
            all->forget(*number);
            delete number;
          }};
}

void DeviceBackend::end_activity(const ActivityRef& activity) {
  if (activity != nullptr) activities_->end();
}

// Called when a task's work has finished. True if its times are known, or nothing should wait for
// them any longer. CUPTI delivers records a little late. Only the log needs them, so they are
// waited for unless a host waits for the task or values are read after it.
bool DeviceBackend::has_times(InFlight& task) {
  constexpr int64_t kPatienceNs = 50'000'000;
  constexpr int64_t kFlushEveryNs = 1'000'000;
  constexpr uint64_t kMostMissing = 200;
  if (activities_ == nullptr || task.activity == nullptr || task.span) return true;
  task.span = activities_->find(*task.activity);
  if (!task.span) {
    using Kind = interp::HostState::Kind;
    const auto is = [&](Kind kind) {
      return std::any_of(hosts_.begin(), hosts_.end(),
                         [&](const interp::HostState& host) { return host.kind == kind; });
    };
    const bool hurries = is_one_by_one() || is(Kind::kBlocked);
    const int64_t now = now_ns();
    const int64_t ended_ns = task.ended->time_ns();
    const int64_t pause_ns = is(Kind::kRunnable) ? 5 * kFlushEveryNs : kFlushEveryNs;
    if (hurries ? flushed_ns_ <= ended_ns : now - flushed_ns_ >= pause_ns) {
      activities_->flush();
      flushed_ns_ = now_ns();
      task.span = activities_->find(*task.activity);
    }
    if (!task.span && !hurries && now - ended_ns < kPatienceNs) return false;
  }
  ++(task.span ? measured_ : not_measured_);
  if (measured_ == 0 && not_measured_ == kMostMissing) {
    no_activities_ = fmt::format("CUPTI reported none of the first {} tasks ({})", kMostMissing,
                                 activities_->description());
    activities_ = nullptr;
  }
  return true;
}

bool DeviceBackend::is_pending() const {
  return !starting_.empty() || !failures_.empty() || kept_tasks_ > 0 || is_in_flight();
}

// The error, and how many tasks may have caused it.
Error DeviceBackend::among_others(Error error, const Device& device) const {
  size_t tasks = 0;
  for (const Queue& q : queues_) {
    if (q.device == &device) tasks += q.in_flight.size();
  }
  if (tasks > 1) {
    error.diagnostics.front().message += fmt::format(
        "; the device does not say which of its {} tasks in flight failed, this is the first of "
        "them; `hostir debug` runs one at a time and finds it",
        tasks);
  }
  return error;
}

void DeviceBackend::look_for_failures() {
  if (failed_) return;
  // Attributed to the oldest task in flight: the device does not report which task failed, nor
  // which ones had ended before.
  const auto oldest = [&](const Device* device) {
    const InFlight* found = nullptr;
    for (const Queue& q : queues_) {
      if (q.in_flight.empty() || (device != nullptr && q.device != device)) continue;
      const InFlight& head = q.in_flight.front();
      if (found == nullptr || head.issued_ns < found->issued_ns) found = &head;
    }
    return found == nullptr ? interp::kNoTask : found->id;
  };
  for (const auto& device : devices_) {
    if (const Error* error = device->failure()) {
      failed_ = true;
      failures_.emplace_back(oldest(device.get()), among_others(*error, *device));
      return;
    }
  }
  if (rendezvous_ == nullptr || now_ns() - looked_ns_ < kLookEveryNs) return;
  looked_ns_ = now_ns();
  if (const std::optional<int> lost = rendezvous_->lost_process()) {
    std::string ranks;
    for (const Rank r : rendezvous_->ranks_of(*lost)) ranks += fmt::format(" {}", r);
    failed_ = true;
    failures_.emplace_back(oldest(nullptr),
                           fail(ErrorKind::kStuck, "lost_process",
                                fmt::format("process {} with rank{} is gone", *lost, ranks))
                               .value());
  } else if (const Error* error = network_ == nullptr ? nullptr : network_->failure()) {
    failed_ = true;
    failures_.emplace_back(oldest(nullptr), *error);
  }
}

// Finishes everything on the devices before the next instruction, except what waits for another
// process.
void DeviceBackend::drain() {
  const auto calls_others = [](const InFlight& task) { return task.wire_call >= 0; };
  for (Queue& q : queues_) {
    if (std::any_of(q.in_flight.begin(), q.in_flight.end(), calls_others)) return;
  }
  for (const auto& device : devices_) device->synchronize();
}

void DeviceBackend::summarise(TaskId task, std::span<const BufferRef> written,
                              interp::CompletionSink& sink) {
  uint16_t operand = 0;
  const Rank rank = interp::task_rank(task);
  for (const BufferRef& ref : written) {
    interp::ValueSummary out;
    out.task = task;
    out.rank = rank;
    out.allocation = ref.allocation;
    out.operand = operand++;
    const Placement* placement = ref.after != nullptr ? ref.after : ref.placement;
    if (placement != nullptr) {
      BufferRef as_placed = ref;
      as_placed.placement = placement;
      Expected<Tensor> value = read(rank, as_placed, placement->box);
      if (value) {
        out.digest = XXH3_64bits(value->data.data(), value->data.size());
        if (value_mode_ == ValueMode::kStats) {
          interp::add_stats(placement->dtype, value->data.data(), placement->box.volume(), out);
        } else {
          interp::count_not_finite(placement->dtype, value->data.data(), placement->box.volume(),
                                   out);
        }
      }
    }
    sink.value(out);
  }
}

}  // namespace hostir::cuda
