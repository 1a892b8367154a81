// What may happen now: tasks get engines, events are released, in rounds until nothing moves.
#include <algorithm>

#include "interp/sim/timeline.h"

namespace hostir::sim {

void Timeline::advance(std::span<const HostState> hosts, std::vector<TimelineEvent>& out) {
  hosts_.assign(ranks_.size(), Host{});
  for (size_t r = 0; r < hosts_.size() && r < hosts.size(); ++r) hosts_[r].state = hosts[r];
  if (idle()) return;
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  bool moved = true;
  while (moved) {
    ++round_;
    moved = commit_pass();
    moved = release_pass(out) || moved;
    if (!moved) moved = force(out);
  }
  for (Rank r = 0; index(r) < ranks_.size(); ++r) drop_gone(r);
  std::sort(out.begin() + begin, out.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) { return a.at < b.at; });
}

// Gives engines to candidates in their order. A meeting that may not go yet keeps later ones off
// the engines that it will use.
bool Timeline::commit_pass() {
  bool moved = false;
  for (Rank r = 0; index(r) < ranks_.size(); ++r) {
    auto& ready = ranks_[index(r)].ready_compute;
    while (!ready.empty()) {
      const Moment candidate = *ready.begin();
      if (!engine_safe(r, Engine::kCompute, candidate, nullptr)) break;
      commit_compute(r, candidate);
      moved = true;
    }
  }
  if (ready_meetings_.empty()) return moved;
  std::set<size_t> taken;
  const std::vector<ReadyMeeting> candidates(ready_meetings_.begin(), ready_meetings_.end());
  for (const ReadyMeeting& candidate : candidates) {
    const Meeting& meeting = meetings_.at(candidate.key);
    bool safe = std::none_of(meeting.engines.begin(), meeting.engines.end(),
                             [&](size_t e) { return taken.contains(e); });
    for (const Rank r : meeting.members) {
      safe = safe && engine_safe(r, Engine::kLink, candidate.order, &candidate.key);
    }
    if (!safe) {
      taken.insert(meeting.engines.begin(), meeting.engines.end());
      continue;
    }
    ready_meetings_.erase(candidate);
    commit_meeting(candidate);
    moved = true;
  }
  return moved;
}

bool Timeline::is_front(const TimelineEvent& event) const {
  return std::all_of(event.ranks.begin(), event.ranks.end(), [&](Rank r) {
    const auto& events = ranks_[index(r)].events;
    return !events.empty() && events.begin()->first == event.at;
  });
}

bool Timeline::may_happen(const TimelineEvent& event) {
  return is_front(event) && std::all_of(event.ranks.begin(), event.ranks.end(),
                                        [&](Rank r) { return memory_safe(r, event.at); });
}

bool Timeline::release_pass(std::vector<TimelineEvent>& out) {
  bool moved = false;
  for (Rank r = 0; index(r) < ranks_.size(); ++r) {
    auto& events = ranks_[index(r)].events;
    while (!events.empty() && may_happen(events.begin()->second)) {
      release(events.begin()->second, out);
      moved = true;
    }
  }
  return moved;
}

void Timeline::release(const TimelineEvent& event, std::vector<TimelineEvent>& out) {
  const TimelineEvent& kept = out.emplace_back(event);
  for (const Rank r : kept.ranks) ranks_[index(r)].events.erase(kept.at);
  if (kept.at.phase != Moment::Phase::kFinish) return;
  if (Node* node = find(kept.at.task)) node->phase = Node::Phase::kGone;
  --in_flight_;
  Host& host = hosts_[index(kept.at.rank)];
  if (host.state.kind == HostState::Kind::kBlocked && host.state.waits_for == kept.at.task) {
    host.resumed = true;
    host.resumed_ns = kept.at.time_ns;
  }
}

const TimelineEvent* Timeline::earliest_event() const {
  const TimelineEvent* earliest = nullptr;
  for (const Queue& queue : ranks_) {
    if (queue.events.empty()) continue;
    const TimelineEvent& event = queue.events.begin()->second;
    if (earliest == nullptr || event.at < earliest->at) earliest = &event;
  }
  return earliest;
}

// With every host waiting or done, the globally earliest of all events and candidates is safe
// whatever the bounds could tell: nothing is issued before something finishes.
bool Timeline::force(std::vector<TimelineEvent>& out) {
  for (const Host& host : hosts_) {
    if (host.state.kind == HostState::Kind::kRunnable || host.resumed) return false;
  }
  const TimelineEvent* event = earliest_event();
  std::optional<Moment> compute;
  for (const Queue& queue : ranks_) {
    if (queue.ready_compute.empty()) continue;
    compute =
        compute ? std::min(*compute, *queue.ready_compute.begin()) : *queue.ready_compute.begin();
  }
  const bool meeting_first =
      !ready_meetings_.empty() && (!compute || ready_meetings_.begin()->order < *compute);
  if (meeting_first) compute = ready_meetings_.begin()->order;
  if (!compute && event == nullptr) return false;
  if (event != nullptr && (!compute || event->at.time_ns <= compute->time_ns)) {
    release(*event, out);
  } else if (meeting_first) {
    const ReadyMeeting ready = *ready_meetings_.begin();
    ready_meetings_.erase(ready);
    commit_meeting(ready);
  } else {
    commit_compute(compute->rank, *compute);
  }
  return true;
}

void Timeline::drop_gone(Rank rank) {
  Queue& queue = ranks_[index(rank)];
  while (!queue.nodes.empty() && queue.nodes.front().phase == Node::Phase::kGone) {
    queue.nodes.pop_front();
    ++queue.base;
  }
}

}  // namespace hostir::sim
