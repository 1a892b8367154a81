// Lower bounds: the earliest time at which a future event can happen.
//
// A host that can run may issue from its clock on; a host that waits may issue after what it waits
// for; a task is ready after its dependencies; a meeting after its last member. All of these are
// maxima over other bounds, so one depth-first walk gives the exact bound, and a cycle means
// "never": that is a deadlock. Bounds stay valid as time passes; they are recomputed every round.
// The caller passes a bound that is `enough`: above it, a maximum need not be exact, so usually one
// member of a large group decides.
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

// True if the bound was found in this round, and is exact or above `enough`.
bool Timeline::is_known(const Bound& bound, int64_t enough) const {
  return bound.round == round_ && (bound.busy || bound.exact || bound.ns > enough);
}

// No task of this host can be issued before this time.
int64_t Timeline::host_bound(Rank rank, int64_t enough) {
  Host& host = hosts_[index(rank)];
  if (is_known(host.bound, enough)) return host.bound.busy ? kNever : host.bound.ns;
  host.bound = {round_, 0, true, false};
  int64_t bound = host.state.clock_ns;
  switch (host.state.kind) {
    case HostState::Kind::kRunnable:
      break;
    case HostState::Kind::kRemote:
    case HostState::Kind::kDone:
      bound = kNever;
      break;
    case HostState::Kind::kBlocked:
      bound = std::max(
          bound, host.resumed ? host.resumed_ns : finish_bound(host.state.waits_for, enough - 1));
      break;
  }
  bound = plus(bound, 1);
  host.bound = {round_, bound, false, bound <= enough};
  return bound;
}

int64_t Timeline::finish_bound(TaskId id, int64_t enough) {
  Node* node = find(id);
  if (node == nullptr) return 0;
  if (node->phase == Node::Phase::kCommitted) return node->finished_ns;
  switch (node->work) {
    case TimedTask::Work::kNone:
      break;
    case TimedTask::Work::kCompute:
      return plus(ready_bound(*node, enough - node->duration_ns), node->duration_ns);
    case TimedTask::Work::kCommunication: {
      int64_t bound = std::max(ready_bound(*node, enough), node->finished_ns);
      for (size_t i = 0; i < node->meetings.size() && bound <= enough; ++i) {
        // Those that are committed are counted in finished_ns.
        bound = std::max(bound, end_bound(node->meetings[i], enough));
      }
      return bound;
    }
  }
  return ready_bound(*node, enough);
}

int64_t Timeline::ready_bound(Node& node, int64_t enough) {
  if (node.phase != Node::Phase::kWaiting) return node.ready_ns;
  if (is_known(node.bound, enough)) return node.bound.busy ? kNever : node.bound.ns;
  if (depth_ >= kMaxDepth) return node.ready_ns;
  node.bound = {round_, 0, true, false};
  ++depth_;
  int64_t bound = node.ready_ns;
  for (size_t i = 0; i < node.dependencies.size() && bound <= enough; ++i) {
    bound = std::max(bound, finish_bound(node.dependencies[i], enough));
  }
  --depth_;
  node.bound = {round_, bound, false, bound <= enough};
  return bound;
}

// Visits the last arrivals first, because they are the ones likely to be late.
int64_t Timeline::meeting_bound(const MeetingKey& key, int64_t enough) {
  const auto found = meetings_.find(key);
  if (found == meetings_.end()) return 0;
  Meeting& meeting = found->second;
  if (is_known(meeting.bound, enough)) return meeting.bound.busy ? kNever : meeting.bound.ns;
  meeting.bound = {round_, 0, true, false};
  int64_t bound = meeting.ready_ns;
  for (size_t i = meeting.arrivals.size(); i-- > 0 && bound <= enough;) {
    const Arrival& arrival = meeting.arrivals[i];
    if (!arrival.from_buffer) {
      bound = std::max(bound, ready_bound(*find(arrival.task), enough));
      continue;
    }
    MeetingKey filling = key;
    filling.into_buffer = true;
    bound = std::max(bound, buffer_bound(filling, enough));
  }
  if (meeting.room_after) bound = std::max(bound, buffer_bound(*meeting.room_after, enough));
  for (size_t m = 0; meeting.missing > 0 && m < meeting.members.size() && bound <= enough; ++m) {
    if (!meeting.arrived[m]) bound = std::max(bound, host_bound(meeting.members[m], enough));
  }
  meeting.bound = {round_, bound, false, bound <= enough};
  return bound;
}

// The earliest end of the meeting; 0 if it is committed.
int64_t Timeline::end_bound(const MeetingKey& key, int64_t enough) {
  const auto found = meetings_.find(key);
  if (found == meetings_.end()) return 0;
  const int64_t duration = found->second.duration_ns;
  return plus(meeting_bound(key, enough - duration), duration);
}

// The same for the transfers of one buffer, where each may wait for the previous one.
int64_t Timeline::buffer_bound(const MeetingKey& key, int64_t enough) {
  if (depth_ >= kMaxDepth) return 0;
  ++depth_;
  const int64_t bound = end_bound(key, enough);
  --depth_;
  return bound;
}

// The earliest start of any uncommitted meeting of the node, except `but`.
int64_t Timeline::next_meeting_bound(Node& node, const MeetingKey* but, int64_t enough) {
  int64_t bound = kNever;
  const int64_t ready = ready_bound(node, enough);
  for (const MeetingKey& key : node.meetings) {
    if ((but != nullptr && key == *but) || !meetings_.contains(key)) continue;
    bound = std::min(bound, std::max(ready, meeting_bound(key, enough)));
    if (bound <= ready) break;  // no meeting is earlier
  }
  return bound;
}

// The earliest time at which the node may request the engine; kNever if it does not use it.
int64_t Timeline::engine_bound(Node& node, Engine engine, const MeetingKey* meeting,
                               int64_t enough) {
  if (engine == Engine::kCompute) {
    return node.work == TimedTask::Work::kCompute ? ready_bound(node, enough) : kNever;
  }
  return node.work == TimedTask::Work::kCommunication ? next_meeting_bound(node, meeting, enough)
                                                      : kNever;
}

// True if nothing else on this rank can request the engine before the candidate. Bounds are
// monotonic along a stream, so each stream is walked only up to the candidate's time.
bool Timeline::engine_safe(Rank rank, Engine engine, const Moment& candidate,
                           const MeetingKey* meeting) {
  const int64_t at_ns = candidate.time_ns;
  if (host_bound(rank, at_ns) <= at_ns) return false;
  for (const auto& [stream, tasks] : ranks_[index(rank)].uncommitted) {
    for (const TaskId id : tasks) {
      Node& node = *find(id);
      if (ready_bound(node, at_ns) > at_ns) break;
      if (id == candidate.task && engine == Engine::kCompute) continue;
      const int64_t bound = engine_bound(node, engine, meeting, at_ns);
      if (bound >= kNever) continue;
      if (order_of(node, bound) < candidate) return false;
    }
  }
  return true;
}

// True if nothing else can access the rank's memory before this moment.
bool Timeline::memory_safe(Rank rank, const Moment& moment) {
  const int64_t at_ns = moment.time_ns;
  if (host_bound(rank, at_ns) <= at_ns) return false;
  for (const auto& [stream, tasks] : ranks_[index(rank)].uncommitted) {
    if (tasks.empty()) continue;
    Node& node = *find(tasks.front());
    const int64_t bound = node.work == TimedTask::Work::kCommunication
                              ? next_meeting_bound(node, nullptr, at_ns)
                              : ready_bound(node, at_ns);
    if (bound < at_ns) return false;
    const bool starts_later =
        node.work != TimedTask::Work::kNone && moment.phase != Moment::Phase::kStart;
    if (bound == at_ns && !starts_later) return false;
  }
  return true;
}

}  // namespace hostir::sim
