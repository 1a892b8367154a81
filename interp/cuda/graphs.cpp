// Replays repeated loop bodies as graphs of the device (`--graphs`).
//
// 1. The tasks of a rank in one iteration are kept until the iteration ends: the next task belongs
//    to another one, or the host cannot go on. Ranks that meet within a body are one unit.
// 2. Allocations and frees of a unit are served from the streams' spare blocks, so that iterations
//    that do the same use the same addresses.
// 3. A unit is described by numbers: instructions, kernels, addresses, dependencies. When a unit
//    comes with the same description as an earlier one, it is captured, and launched as a graph
//    from then on.
// 4. What cannot be captured is submitted task by task, as without graphs, and the reason is kept.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/support/lists.h"
#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

namespace {

constexpr size_t kMostGraphs = 256;

uint64_t word_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

bool DeviceBackend::uses_graphs() const {
  return options_.graphs && !options_.stepwise && value_mode_ == ValueMode::kNone &&
         options_.schedule == 0;
}

// Keeps a task if it is in a loop or follows kept tasks of its rank. False: submit it now.
bool DeviceBackend::keep_for_graph(const interp::Task& task) {
  idle_polls_ = 0;
  bodies_.resize(static_cast<size_t>(code_->rank_count));
  RankBodies& mine = bodies_[static_cast<size_t>(task.rank)];
  const bool pending = !mine.tasks.empty() || !mine.closed.empty();
  if (task.loop_path == 0 && !pending) {
    release_spare_of(task.rank);
    return false;
  }
  if (!mine.tasks.empty() && mine.path != task.loop_path) {
    close_body(mine);
    submit_units();
  }
  mine.path = task.loop_path;
  Held& held = mine.tasks.emplace_back(held_of(task));
  held.keep();
  held_.insert(held.id);
  ++kept_tasks_;
  return true;
}

void DeviceBackend::close_body(RankBodies& bodies) {
  if (bodies.tasks.empty()) return;
  bodies.closed.push_back({bodies.path, std::move(bodies.tasks)});
  bodies.tasks.clear();
}

// Called by every poll while tasks are kept.
void DeviceBackend::end_bodies(std::span<const interp::HostState> hosts) {
  constexpr int kMostIdlePolls = 1000;  // a rank may be frozen
  bool runs = ++idle_polls_ <= kMostIdlePolls;
  bool closed = false;
  bool can_come = false;
  for (size_t r = 0; r < bodies_.size(); ++r) {
    if (runs && hosts[r].kind == interp::HostState::Kind::kRunnable) {
      can_come = true;
      continue;
    }
    closed = closed || !bodies_[r].tasks.empty();
    close_body(bodies_[r]);
  }
  if (closed) submit_units();
  if (can_come) return;
  for (RankBodies& mine : bodies_) {
    while (!mine.closed.empty()) {
      Unit unit;
      unit.bodies.push_back(std::move(mine.closed.front()));
      mine.closed.pop_front();
      submit_tasks(unit);
    }
  }
}

// Adds the ranks that a body meets on its device, itself included.
void DeviceBackend::add_partners(const Body& body, std::vector<Rank>& ranks) const {
  const auto add = [&](Rank rank) { add_once(ranks, rank); };
  for (const Held& task : body.tasks) {
    add(task.rank);
    for (const auto& item : task.items) {
      if (!meets_on_device(task.rank, item)) continue;
      if (item.is_pair()) {
        add(item.other());
      } else {
        for (const Rank member : item.members) add(member);
      }
    }
  }
}

// All ranks that have to be in one unit with this one's first body; empty if not all are there.
// This runs for every iteration of every rank, so a rank that meets no other costs only one
// allocation.
std::vector<Rank> DeviceBackend::unit_of(Rank rank) const {
  std::vector<Rank> known;
  if (bodies_[static_cast<size_t>(rank)].closed.empty()) return known;
  known.push_back(rank);
  for (size_t i = 0; i < known.size(); ++i) {
    const RankBodies& bodies = bodies_[static_cast<size_t>(known[i])];
    if (bodies.closed.empty()) return {};
    add_partners(bodies.closed.front(), known);
  }
  std::sort(known.begin(), known.end());
  return known;
}

void DeviceBackend::submit_units() {
  for (bool again = true; again;) {
    again = false;
    for (size_t r = 0; r < bodies_.size(); ++r) {
      const std::vector<Rank> ranks = unit_of(static_cast<Rank>(r));
      if (ranks.empty()) continue;
      Unit unit;
      for (const Rank member : ranks) {
        RankBodies& bodies = bodies_[static_cast<size_t>(member)];
        unit.bodies.push_back(std::move(bodies.closed.front()));
        bodies.closed.pop_front();
      }
      submit(unit);
      again = true;
    }
  }
}

void DeviceBackend::submit(Unit& unit) {
  planned_frees_.clear();
  // Outside of loops nothing repeats.
  const bool repeats = std::any_of(unit.bodies.begin(), unit.bodies.end(),
                                   [](const Body& body) { return body.path != 0; });
  if (!repeats) return submit_tasks(unit);
  const bool has_memory = plan_memory(unit);
  describe_unit(unit);
  if (!has_memory || !unit.may_start) return submit_tasks(unit);
  const auto at = std::find_if(graphs_.begin(), graphs_.end(),
                               [&](const KnownUnit& known) { return known.words == unit.words; });
  if (at == graphs_.end()) {
    if (graphs_.size() < kMostGraphs) {
      graphs_.push_back({std::move(unit.words), unit.bodies.front().tasks.front().code});
    } else {
      ++not_looked_up_;
    }
    return submit_tasks(unit);
  }
  if (at->graph == nullptr && at->refusal.empty()) {
    at->refusal = why_not_captured(unit);
    if (at->refusal.empty()) capture(unit, *at);
  }
  const bool may_deadlock = unit.crosses_devices && !unit.outside.empty();
  if (at->graph == nullptr || may_deadlock) return submit_tasks(unit);
  ++at->launches;
  const auto number = static_cast<size_t>(at - graphs_.begin());
  launch_graph(unit, *at->graph, timer_of_graph(number));
}

// The rank has left its loops: releases their blocks, after everything on the streams.
void DeviceBackend::release_spare_of(Rank rank) {
  for (StreamIndex s = 0; s < streams_; ++s) {
    Queue& q = queue(rank, s);
    if (q.held.empty()) release_spare(q);
  }
}

void DeviceBackend::submit_tasks(Unit& unit) {
  for (Body& body : unit.bodies) {
    for (Held& task : body.tasks) {
      --kept_tasks_;
      Queue& q = queue(task.rank, task.stream);
      if (task.work != Work::kCommunication && q.held.empty() && hand_over(q, task)) {
        held_.erase(task.id);
        continue;
      }
      q.held.push_back(std::move(task));
      if (q.held.size() == 1) wake(q);
    }
  }
  pump();
}

// Serves allocations and frees in order; a stream's own order makes the blocks safe to reuse.
bool DeviceBackend::plan_memory(Unit& unit) {
  bool good = true;
  for (Body& body : unit.bodies) {
    for (Held& task : body.tasks) {
      Queue& q = queue(task.rank, task.stream);
      if (task.work == Work::kAlloc) {
        const BufferRef& ref = task.buffers.front();
        task.memory_is_planned =
            allocate_spare(q, task.rank, ref.allocation, ref.offset_bytes + ref.size_bytes);
        good = good && task.memory_is_planned;
      } else if (task.work == Work::kFree) {
        const Memory* m = memory(task.rank, task.buffers.front().allocation);
        if (m == nullptr) continue;
        keep_spare(q, *m);
        planned_frees_.insert(m->data);
        task.memory_is_planned = true;
      } else if (task.work == Work::kLaunch && task.plan->kernel->scratch_bytes() > 0) {
        good = take_scratch(q, task.plan->kernel->scratch_bytes()) != nullptr && good;
      }
    }
  }
  return good;
}

// Fills in `words`, `queues` and `may_start`. Dependencies on tasks outside of the unit are not
// part of the description; launch_graph() waits for them.
void DeviceBackend::describe_unit(Unit& unit) {
  std::unordered_map<TaskId, uint64_t> numbers;
  std::vector<uint64_t>& words = unit.words;
  const auto add_side = [&](Rank rank, const BufferRef& ref) {
    words.push_back(ref.allocation.valid() ? word_of(address(rank, ref)) : 0);
    words.push_back(static_cast<uint64_t>(ref.size_bytes));
  };
  for (const Body& body : unit.bodies) {
    for (const Held& task : body.tasks) {
      Queue& q = queue(task.rank, task.stream);
      if (!contains(unit.queues, &q)) {
        unit.queues.push_back(&q);
        unit.may_start = unit.may_start && q.held.empty();
        words.push_back(word_of(q.scratch));
      }
      const uint64_t number = numbers.size();
      numbers[task.id] = number;
      words.insert(words.end(), {static_cast<uint64_t>(task.rank), task.code, task.stream});
      for (const TaskId id : task.waits) {
        const auto inside = numbers.find(id);
        if (inside != numbers.end()) {
          words.push_back(inside->second);
          unit.awaited.insert(id);
        } else {
          unit.may_start = unit.may_start && !held_.contains(id);
          if (enqueued_.contains(id)) unit.outside.push_back(id);
        }
      }
      if (task.work == Work::kLaunch) {
        words.push_back(word_of(task.plan->kernel.get()));
        for (const BufferRef& ref : task.buffers) add_side(task.rank, ref);
      }
      for (const interp::CommunicationItem& item : task.items) {
        words.insert(words.end(), {item.code, item.comm, static_cast<uint64_t>(item.position),
                                   static_cast<uint64_t>(item.peer)});
        unit.crosses_devices = unit.crosses_devices || !meets_on_device(task.rank, item);
        add_side(task.rank, item.in);
        add_side(task.rank, item.out);
        for (const auto& counts : {item.send_counts.list(), item.recv_counts.list()}) {
          words.insert(words.end(), counts.begin(), counts.end());
        }
      }
    }
  }
}

// Why a unit cannot be captured; empty if it can. A graph starts only after everything that it
// waits for. Between devices that may deadlock: the other side may need a part of the graph first.
std::string DeviceBackend::why_not_captured(const Unit& unit) const {
  std::map<MeetingKey, size_t> arrivals;
  for (const Body& body : unit.bodies) {
    for (const Held& task : body.tasks) {
      const std::string where = code_->address(task.code);
      if (task.work == Work::kLaunch) {
        if (!task.plan->all_dense) return where + " copies a view, which needs memory";
        if (!task.plan->kernel->can_be_captured()) return where + " runs on the host";
      }
      for (const interp::CommunicationItem& item : task.items) {
        if (meets_on_device(task.rank, item)) {
          if (may_buffer(item)) return where + " sends through a buffer, which needs memory";
          const size_t members = item.is_pair() ? 2 : item.members.size();
          size_t& arrived = arrivals[key_of(task.rank, item)];
          arrived = arrived == 0 ? members - 1 : arrived - 1;
          if (arrived == 0) arrivals.erase(key_of(task.rank, item));
        } else if (meets_by_copies(task.rank, item)) {
          return where + " copies between devices";
        } else if (unit.queues.size() > 1) {
          return where + " communicates between devices, beside another stream of the body";
        } else if (!unit.outside.empty()) {
          return where + " communicates between devices in a body that waits for earlier work";
        }
      }
    }
  }
  if (arrivals.empty()) return {};
  return "its ranks meet each other in different iterations";
}

// Captures the tasks in an order in which all meetings take place.
void DeviceBackend::capture(Unit& unit, KnownUnit& known) {
  Queue& leader = *unit.queues.front();
  Device& device = *leader.device;
  device.begin_capture(leader.stream);
  capturing_ = true;
  const EventRef begin = mark(leader);
  for (Queue* q : unit.queues) {
    if (q != &leader) device.wait(q->stream, begin->handle());
  }
  std::unordered_map<TaskId, EventRef> ends;
  std::vector<size_t> next(unit.bodies.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t b = 0; b < unit.bodies.size(); ++b) {
      std::vector<Held>& tasks = unit.bodies[b].tasks;
      for (; next[b] < tasks.size() && capture_task(unit, tasks[next[b]], ends); ++next[b]) {
        moved = true;
      }
    }
  }
  for (size_t b = 0; b < unit.bodies.size(); ++b) {
    if (next[b] == unit.bodies[b].tasks.size()) continue;
    known.refusal = "its ranks communicate in different orders on different streams";
  }
  for (Queue* q : unit.queues) {
    if (q != &leader) device.wait(leader.stream, mark(*q)->handle());
  }
  capturing_ = false;
  auto graph = device.end_capture(leader.stream);
  if (known.refusal.empty()) known.refusal = std::exchange(capture_problem_, {});
  if (known.refusal.empty() && !graph) known.refusal = graph.error().message();
  if (known.refusal.empty()) known.graph = std::move(*graph);
  forget_capture(unit);
}

// False while a meeting of the task is open.
bool DeviceBackend::capture_task(Unit& unit, Held& task,
                                 std::unordered_map<TaskId, EventRef>& ends) {
  Queue& q = queue(task.rank, task.stream);
  if (!task.arrived) {
    for (const TaskId id : task.waits) {
      const auto end = ends.find(id);
      if (end != ends.end()) q.device->wait(q.stream, end->second->handle());
    }
    if (task.work == Work::kLaunch) launch(q, task);
    if (task.work == Work::kCommunication) {
      task.queued = mark(q);
      arrive(q, task);
      if (task.wire_call >= 0 && !network_->is_enqueued(task.wire_call)) {
        capture_problem_ =
            code_->address(task.code) + " must connect its communicator before it can be captured";
      }
    }
    task.arrived = true;
  }
  if (task.open_meetings > 0) return false;
  if (unit.awaited.contains(task.id)) ends[task.id] = mark(q);
  return true;
}

// The tasks have not run: their progress starts over.
void DeviceBackend::forget_capture(Unit& unit) {
  for (Body& body : unit.bodies) {
    for (Held& task : body.tasks) {
      for (const interp::CommunicationItem& item : task.items) {
        if (meets_on_device(task.rank, item)) meetings_.erase(key_of(task.rank, item));
      }
      if (task.wire_call >= 0) network_->finished(task.wire_call);
      task.wire_call = -1;
      task.activity = nullptr;
      task.arrived = false;
      task.open_meetings = 0;
      task.queued = nullptr;
      task.started = nullptr;
    }
  }
}

// The tasks of a graph have the graph's times.
void DeviceBackend::launch_graph(Unit& unit, const DeviceGraph& graph, size_t timer) {
  Queue& leader = *unit.queues.front();
  Device& device = *leader.device;
  const bool is_apart = unit.queues.size() > 1 || !unit.outside.empty();
  const bool is_measured = measures_all() || (samples() && (is_due(timer) || is_apart));
  // Work in flight ends here, before the graph and before the events that the graph waits for.
  for (Queue* q : unit.queues) {
    if (is_measured) mark_tail(*q);
    if (q != &leader) device.wait(leader.stream, mark(*q)->handle());
  }
  for (const TaskId id : unit.outside) {
    const auto found = enqueued_.find(id);
    if (found != enqueued_.end()) device.wait(leader.stream, found->second->handle());
  }
  bool is_awaited = unit.queues.size() > 1 || is_measured;
  for (const Body& body : unit.bodies) {
    for (const Held& task : body.tasks) is_awaited = is_awaited || has_named_event(task);
  }
  // If it directly follows work in flight, that work's end is also its start.
  const bool follows = unit.queues.size() == 1 && unit.outside.empty() &&
                       !leader.in_flight.empty() && leader.in_flight.back().ended != nullptr;
  EventRef begun;
  if (is_measured) begun = follows ? leader.in_flight.back().ended : mark(leader);
  const ActivityRef activity = begin_activity();
  if (drives_several_ && activity == nullptr) {
    graph.launch_soon(leader.stream);
  } else {
    graph.launch(leader.stream);
  }
  end_activity(activity);
  const EventRef ended = is_awaited ? mark(leader) : nullptr;
  for (Queue* q : unit.queues) {
    if (q != &leader) device.wait(q->stream, ended->handle());
    if (ended != nullptr) share_event(*q, ended);
  }
  std::unordered_set<const Queue*> begun_queues;
  for (Body& body : unit.bodies) {
    for (Held& task : body.tasks) {
      InFlight flight;
      flight.id = task.id;
      flight.issued_ns = task.issued_ns;
      flight.queued = begun;
      flight.started = begun;
      flight.ended = ended;
      flight.activity = activity;
      flight.waits.assign(task.waits.begin(), task.waits.end());
      if (has_named_event(task)) enqueued_[task.id] = ended;
      Queue& q = queue(task.rank, task.stream);
      flight.timer = timer;
      flight.joins = !begun_queues.insert(&q).second;
      flight.measured = is_measured && !is_apart && !flight.joins;
      if (samples()) add_unmarked(q, flight);
      q.in_flight.add() = std::move(flight);
      held_.erase(task.id);
      if (task.work == Work::kFree) {
        forget(task.rank, task.buffers.front().allocation);
      }
      --kept_tasks_;
    }
  }
  if (leader.unmarked_ns >= kWindowNs) mark_tail(leader);
}

// One line for the log and the command.
std::string DeviceBackend::graphs_text() const {
  if (!uses_graphs()) return "off: every instruction finishes before the next one";
  size_t captured = 0;
  uint64_t launches = 0;
  std::set<std::string> refusals;
  for (const KnownUnit& known : graphs_) {
    if (known.graph != nullptr) ++captured;
    launches += known.launches;
    if (!known.refusal.empty()) {
      refusals.insert(fmt::format("the body with {} is not captured: {}",
                                  code_->address(known.code), known.refusal));
    }
  }
  std::string out = fmt::format("{} captured, launched {} times", captured, launches);
  if (captured == 0 && refusals.empty()) out += "; no loop body was repeated with the same buffers";
  for (const std::string& refusal : refusals) out += "; " + refusal;
  if (not_looked_up_ > 0) {
    out += fmt::format(
        "; {} bodies were not compared, because the limit of {} different ones was reached",
        not_looked_up_, kMostGraphs);
  }
  return out;
}

}  // namespace hostir::cuda
