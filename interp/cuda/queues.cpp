// Accepts tasks and submits them to the device in stream order.
//
// A task is submitted when it is the first of its stream, everything it waits for has been
// submitted and, for a meeting, all members have arrived. Nothing here blocks: a task that cannot
// be submitted is held and tried again when the state of its stream changes.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

// The preceding tasks without their own event are complete when this event has happened.
void DeviceBackend::share_event(Queue& queue, const EventRef& event) {
  auto& flying = queue.in_flight;
  for (auto task = flying.rbegin(); task != flying.rend() && task->ended == nullptr; ++task) {
    task->ended = event;
  }
  queue.unmarked_ns = 0;
}

void DeviceBackend::Held::keep() {
  kept_waits.assign(waits.begin(), waits.end());
  kept_buffers.assign(buffers.begin(), buffers.end());
  kept_items.assign(items.begin(), items.end());
  waits = kept_waits;
  buffers = kept_buffers;
  items = kept_items;
}

DeviceBackend::Held DeviceBackend::held_of(const interp::Task& task) const {
  Held out;
  out.id = task.id;
  out.rank = task.rank;
  out.code = task.code;
  out.stream = task.stream;
  out.issued_ns = task.issued_ns;
  out.plan = static_cast<LaunchTaskPlan*>(task.plan);
  out.waits = task.waits_for;
  out.buffers = task.buffers;
  out.items = task.items;
  if (out.plan != nullptr || !task.items.empty()) {
    out.work = task.items.empty() ? Work::kLaunch : Work::kCommunication;
    return out;
  }
  const HostRole role = record(code_->instructions[task.code].kind).role;
  out.work = role == HostRole::kLaunch  ? Work::kLaunch
             : role == HostRole::kAlloc ? Work::kAlloc
             : role == HostRole::kFree  ? Work::kFree
                                        : Work::kNone;
  return out;
}

// Detects tasks that cannot be executed, before anything runs.
const Error* DeviceBackend::refusal_of(const interp::Task& task) {
  const auto refuse = [&](std::string id, std::string what) {
    refusal_ = fail(ErrorKind::kRuntime, std::move(id), std::move(what)).value();
    return &refusal_;
  };
  const Device& device = *device_of_[static_cast<size_t>(task.rank)];
  const HostRole role = record(code_->instructions[task.code].kind).role;
  for (const BufferRef& ref : task.buffers) {
    const int64_t bytes = ref.offset_bytes + ref.size_bytes;
    if (role != HostRole::kAlloc || bytes <= device.memory_bytes()) continue;
    return refuse("max_memory",
                  fmt::format("{} bytes are more than the {} of device {} ({})", bytes,
                              device.memory_bytes(), device.index(), device.name()));
  }
  return nullptr;
}

const Error* DeviceBackend::issue(std::span<const interp::Task> tasks) {
  for (const interp::Task& task : tasks) {
    if (task.items.empty() && task.buffers.size() != 1) continue;  // launches have been planned
    if (const Error* refused = refusal_of(task)) return refused;
  }
  for (const interp::Task& task : tasks) {
    if (uses_graphs() && keep_for_graph(task)) continue;
    Queue& q = queue(task.rank, task.stream);
    Held held = held_of(task);
    // Memory accounting must see an allocation before the next instruction.
    look_now_ =
        look_now_ || (held.work == Work::kAlloc && q.held.empty() && happens_at_once(q, held));
    if (held.work == Work::kCommunication || !q.held.empty() || !hand_over(q, held)) {
      held.keep();
      held_.insert(held.id);
      q.held.push_back(std::move(held));
      if (q.held.size() == 1) wake(q);
    }
  }
  if (!awake_.empty()) pump();
  if (is_one_by_one()) drain();
  return nullptr;
}

void DeviceBackend::wake(Queue& queue) {
  if (queue.awake) return;
  queue.awake = true;
  awake_.push_back(&queue);
}

void DeviceBackend::pump() {
  while (!awake_.empty()) {
    Queue& q = *awake_.back();
    awake_.pop_back();
    q.awake = false;
    bool moved = false;
    while (!q.held.empty()) {
      handing_over_ = &q.held.front();
      if (!hand_over(q, q.held.front())) break;
      held_.erase(q.held.front().id);
      q.held.pop_front();
      moved = true;
    }
    handing_over_ = nullptr;
    if (!moved) continue;
    // Other streams of the rank may be waiting for it.
    const auto index = static_cast<size_t>(&q - queues_.data());
    const size_t first = index - index % streams_;
    for (size_t s = first; s < first + streams_; ++s) {
      if (!queues_[s].held.empty()) wake(queues_[s]);
    }
  }
}

// Values are read when a task is reported as complete, before the next one can change them.
bool DeviceBackend::is_one_by_one() const {
  return options_.stepwise || value_mode_ != ValueMode::kNone;
}

bool DeviceBackend::is_in_flight() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const Queue& q) { return !q.in_flight.empty(); });
}

// In one-by-one mode, a task waits until the previous one has been reported. It does not wait for
// another rank's network call: that call uses only that rank's buffers and ends only after this
// rank has made its own.
bool DeviceBackend::may_start(Rank rank) const {
  const auto is_apart = [&](const InFlight& task) {
    return task.wire_call >= 0 && interp::task_rank(task.id) != rank;
  };
  return std::all_of(queues_.begin(), queues_.end(), [&](const Queue& q) {
    return std::all_of(q.in_flight.begin(), q.in_flight.end(), is_apart);
  });
}

// Called after a task has been reported.
void DeviceBackend::start_next() {
  for (Queue& q : queues_) {
    if (!q.held.empty()) wake(q);
  }
  pump();
  drain();
}

bool DeviceBackend::waits_are_enqueued(const Held& task) const {
  return std::none_of(task.waits.begin(), task.waits.end(),
                      [&](TaskId id) { return held_.contains(id); });
}

EventRef DeviceBackend::mark(Queue& queue) {
  auto event = std::make_shared<Event>(*queue.device);
  queue.device->record(event->handle(), queue.stream);
  queue.marked = event;
  ++queue.marks;
  return event;
}

// Tasks without their own event are considered complete when this event has happened.
void DeviceBackend::mark_tail(Queue& queue) {
  auto& flying = queue.in_flight;
  if (flying.empty() || flying.back().ended != nullptr) return;
  share_event(queue, mark(queue));
}

// On a stream without work in flight, alloc and free take effect in the call itself. Memory
// accounting learns of it before the next instruction, as memory limits require.
bool DeviceBackend::happens_at_once(const Queue& queue, const Held& task) const {
  const bool is_memory = task.work == Work::kAlloc || task.work == Work::kFree;
  return is_memory && task.waits.empty() && queue.in_flight.empty() && options_.schedule == 0;
}

// True if `wait` may name the task.
bool DeviceBackend::has_named_event(const Held& task) const {
  const size_t event = task.work == Work::kAlloc ? 1 : 0;
  return code_->instructions[task.code].results.size() > event;
}

void DeviceBackend::enqueue_waits(Queue& queue, const Held& task) {
  for (const TaskId id : task.waits) {
    const auto found = enqueued_.find(id);
    if (found != enqueued_.end()) queue.device->wait(queue.stream, found->second->handle());
  }
}

// A seeded delay that exposes races: up to 200 us before one task in four.
void DeviceBackend::delay(Queue& queue, const Held& task) {
  if (options_.schedule == 0) return;
  uint64_t x = task.id * 0x9e3779b97f4a7c15u ^ (options_.seed + 1) * 0xbf58476d1ce4e5b9u ^
               options_.schedule * 0x94d049bb133111ebu;
  x ^= x >> 31;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  if (x % 4 == 0) queue.device->delay(static_cast<int64_t>(x >> 8) % 200'000, queue.stream);
}

// True if the task is now on the device's stream.
bool DeviceBackend::hand_over(Queue& queue, Held& task) {
  if (task.arrived) {
    if (task.open_meetings > 0 || task.absent_partners > 0) return false;
    if (task.wire_call >= 0 && !network_->is_enqueued(task.wire_call)) return false;
    finish_enqueued(queue, task);
    return true;
  }
  if (is_one_by_one() && !may_start(task.rank)) return false;
  if (!waits_are_enqueued(task)) return false;
  // The tasks before it must not appear to last until the task that it waits for has finished.
  if (!task.waits.empty() && samples()) mark_tail(queue);
  enqueue_waits(queue, task);
  delay(queue, task);
  // Directly after a task in flight: that task's end event is also the start of this one.
  const bool follows = task.waits.empty() && options_.schedule == 0 && !queue.in_flight.empty();
  // The last member to arrive at a meeting on a device waits for the others' events.
  const bool meets = std::any_of(task.items.begin(), task.items.end(),
                                 [&](const auto& item) { return meets_here(task.rank, item); });
  task.measured = measures_all() || (samples() && is_due(timer_of(task)));
  const bool is_timed = task.measured || meets || !task.waits.empty() || options_.schedule > 0;
  if (is_timed && !happens_at_once(queue, task)) {
    if (follows) mark_tail(queue);
    task.queued = follows ? queue.in_flight.back().ended : mark(queue);
    task.started = task.queued;
  }
  if (task.work == Work::kCommunication) {
    arrive(queue, task);
    return task.open_meetings == 0 && hand_over(queue, task);
  }
  if (task.work == Work::kLaunch) task.activity = begin_activity();
  enqueue(queue, task);
  end_activity(task.activity);
  finish_enqueued(queue, task);
  return true;
}

void DeviceBackend::enqueue(Queue& queue, Held& task) {
  switch (task.work) {
    case Work::kLaunch:
      if (!failed_) launch(queue, task);  // it may lack its memory
      return;
    case Work::kAlloc: {
      if (task.memory_is_planned) return;
      const BufferRef& ref = task.buffers.front();
      const int64_t bytes = ref.offset_bytes + ref.size_bytes;
      if (!allocate_spare(queue, task.rank, ref.allocation, bytes)) {
        fail_task(task.id, "max_memory",
                  fmt::format("device {} ({}) has no {} bytes left", queue.device->index(),
                              queue.device->name(), bytes));
      }
      return;
    }
    case Work::kFree: {
      const AllocationId id = task.buffers.front().allocation;
      const Memory* m = memory(task.rank, id);
      if (m == nullptr) return;
      if (!task.memory_is_planned) free_block(queue, *m);
      forget(task.rank, id);
      return;
    }
    case Work::kCommunication:
    case Work::kNone:
      return;
  }
}

void DeviceBackend::finish_enqueued(Queue& queue, Held& task) {
  const bool has_event = has_named_event(task);
  const bool on_host_clock = happens_at_once(queue, task);
  const bool measured = task.measured && !on_host_clock;
  EventRef ended;
  if (has_event || measured) {
    ended = mark(queue);
    share_event(queue, ended);
  }
  InFlight& flight = queue.in_flight.add();
  flight.id = task.id;
  flight.issued_ns = task.issued_ns;
  flight.queued = std::move(task.queued);
  flight.started = std::move(task.started);
  flight.ended = std::move(ended);
  flight.on_host_clock = on_host_clock;
  flight.measured = measured;
  flight.timer = timer_of(task);
  flight.waits.assign(task.waits.begin(), task.waits.end());
  flight.wire_call = task.wire_call;
  flight.activity = std::move(task.activity);
  if (value_mode_ != ValueMode::kNone) {
    for (const BufferRef& ref : task.buffers) {
      const bool writes = ref.access == Access::kWrite || ref.access == Access::kReadWrite;
      if (task.work == Work::kLaunch && writes) flight.written.push_back(ref);
    }
    for (const interp::CommunicationItem& item : task.items) {
      if (item.out.allocation.valid()) flight.written.push_back(item.out);
    }
  }
  if (has_event) enqueued_[task.id] = flight.ended;
  if (samples()) add_unmarked(queue, flight);
  if (queue.unmarked_ns >= kWindowNs) mark_tail(queue);
}

void DeviceBackend::fail_task(TaskId task, std::string id, std::string what) {
  failed_ = true;
  failures_.emplace_back(task, fail(ErrorKind::kRuntime, std::move(id), std::move(what)).value());
}

}  // namespace hostir::cuda
