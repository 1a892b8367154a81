// Lower bounds: the earliest time at which a future event can happen.
//
// A runnable host may issue from its clock on; a waiting host after what it waits for. A task is
// ready after its dependencies, a meeting after its last member. All of these are maxima over other
// bounds, so one depth-first walk gives the exact bound, and a cycle means "never", which is a
// deadlock. Bounds stay valid as time advances; they are recomputed every round.
#include <algorithm>
#include <limits>

#include "interp/sim/timeline.h"

namespace hostir::sim {

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
constexpr int kMaxDepth = 1000;  // of the walk; beyond it uses a weaker valid bound

int64_t plus(int64_t time, int64_t duration) {
  return time >= kNever ? kNever : std::min(kNever, time + duration);
}

}  // namespace

// No task of this host can be issued before this time.
int64_t Timeline::host_bound(Rank rank) {
  Host& host = hosts_[index(rank)];
  if (host.bound_round == round_) return host.bound_busy ? kNever : host.bound_ns;
  host.bound_round = round_;
  host.bound_busy = true;
  int64_t bound = host.state.clock_ns;
  switch (host.state.kind) {
    case HostState::Kind::kRunnable:
      break;
    case HostState::Kind::kRemote:
    case HostState::Kind::kDone:
      bound = kNever;
      break;
    case HostState::Kind::kBlocked:
      bound = std::max(bound, host.resumed ? host.resumed_ns : finish_bound(host.state.waits_for));
      break;
  }
  host.bound_ns = plus(bound, 1);
  host.bound_busy = false;
  return host.bound_ns;
}

int64_t Timeline::finish_bound(TaskId id) {
  Node* node = find(id);
  if (node == nullptr) return 0;
  if (node->phase == Node::Phase::kCommitted) return node->finished_ns;
  int64_t bound = ready_bound(*node);
  switch (node->work) {
    case TimedTask::Work::kNone:
      break;
    case TimedTask::Work::kCompute:
      bound = plus(bound, node->duration_ns);
      break;
    case TimedTask::Work::kCommunication:
      for (const MeetingKey& key : node->meetings) {
        const auto found = meetings_.find(key);
        if (found == meetings_.end()) continue;  // committed: included in finished_ns
        bound = std::max(bound, plus(meeting_bound(key), found->second.duration_ns));
      }
      bound = std::max(bound, node->finished_ns);
      break;
  }
  return bound;
}

int64_t Timeline::ready_bound(Node& node) {
  if (node.phase != Node::Phase::kWaiting) return node.ready_ns;
  if (node.bound_round == round_) return node.bound_busy ? kNever : node.bound_ns;
  if (depth_ >= kMaxDepth) return node.ready_ns;
  node.bound_round = round_;
  node.bound_busy = true;
  ++depth_;
  int64_t bound = node.ready_ns;
  for (const TaskId id : node.dependencies) bound = std::max(bound, finish_bound(id));
  --depth_;
  node.bound_busy = false;
  node.bound_ns = bound;
  return bound;
}

int64_t Timeline::meeting_bound(const MeetingKey& key) {
  const auto found = meetings_.find(key);
  if (found == meetings_.end()) return 0;
  Meeting& meeting = found->second;
  if (meeting.bound_round == round_) return meeting.bound_busy ? kNever : meeting.bound_ns;
  meeting.bound_round = round_;
  meeting.bound_busy = true;
  int64_t bound = meeting.ready_ns;
  for (const Arrival& arrival : meeting.arrivals) {
    bound = std::max(bound, ready_bound(*find(arrival.task)));
  }
  for (const Rank rank : meeting.missing) bound = std::max(bound, host_bound(rank));
  meeting.bound_busy = false;
  meeting.bound_ns = bound;
  return bound;
}

// The earliest start of the node's first uncommitted meeting other than `but`.
int64_t Timeline::next_meeting_bound(Node& node, const MeetingKey* but) {
  int64_t bound = kNever;
  for (const MeetingKey& key : node.meetings) {
    if ((but != nullptr && key == *but) || !meetings_.contains(key)) continue;
    bound = std::min(bound, std::max(ready_bound(node), meeting_bound(key)));
  }
  return bound;
}

// The earliest time at which the node could request the engine; kNever if it does not use it.
int64_t Timeline::engine_bound(Node& node, Engine engine, const MeetingKey* meeting) {
  if (engine == Engine::kCompute) {
    return node.work == TimedTask::Work::kCompute ? ready_bound(node) : kNever;
  }
  return node.work == TimedTask::Work::kCommunication ? next_meeting_bound(node, meeting) : kNever;
}

// True if nothing else on this rank can request the engine before the candidate. Bounds are
// monotonic along a stream, so each stream is walked only up to the candidate's time.
bool Timeline::engine_safe(Rank rank, Engine engine, const Moment& candidate,
                           const MeetingKey* meeting) {
  if (host_bound(rank) <= candidate.time_ns) return false;
  for (const auto& [stream, tasks] : ranks_[index(rank)].uncommitted) {
    for (const TaskId id : tasks) {
      Node& node = *find(id);
      if (ready_bound(node) > candidate.time_ns) break;
      if (id == candidate.task && engine == Engine::kCompute) continue;
      const int64_t bound = engine_bound(node, engine, meeting);
      if (bound >= kNever) continue;
      if (order_of(node, bound) < candidate) return false;
    }
  }
  return true;
}

// True if nothing else can access the rank's memory before this moment.
bool Timeline::memory_safe(Rank rank, const Moment& moment) {
  if (host_bound(rank) <= moment.time_ns) return false;
  for (const auto& [stream, tasks] : ranks_[index(rank)].uncommitted) {
    if (tasks.empty()) continue;
    Node& node = *find(tasks.front());
    const int64_t bound = node.work == TimedTask::Work::kCommunication
                              ? next_meeting_bound(node, nullptr)
                              : ready_bound(node);
    if (bound < moment.time_ns) return false;
    const bool starts_later =
        node.work != TimedTask::Work::kNone && moment.phase != Moment::Phase::kStart;
    if (bound == moment.time_ns && !starts_later) return false;
  }
  return true;
}

}  // namespace hostir::sim
