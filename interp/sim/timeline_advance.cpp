// What may happen now: tasks get engines and events are released, in rounds until nothing changes.
//
// advance() is called after every decision of any rank, and usually nothing may happen yet, because
// some host could still issue something earlier. So a refused entry remembers the rank that
// prevented it, and checks that rank first; this costs one comparison of two numbers per rank.
#include <algorithm>

#include "interp/sim/timeline.h"

namespace hostir::sim {

void Timeline::advance(std::span<const HostState> hosts, std::vector<TimelineEvent>& out) {
  if (idle()) return;
  for (size_t r = 0; r < hosts_.size(); ++r) {
    Host& host = hosts_[r];
    host.state = r < hosts.size() ? hosts[r] : HostState{};
    host.resumed = false;
    const bool runs = host.state.kind == HostState::Kind::kRunnable;
    open_until_ns_[r] = runs ? host.state.clock_ns + 1 : kNothing;
  }
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

bool Timeline::compute_pass() {
  bool moved = false;
  for (Rank r = 0; index(r) < ranks_.size(); ++r) {
    if (first_compute_ns_[index(r)] >= open_until_ns_[index(r)]) continue;
    auto& ready = ranks_[index(r)].ready_compute;
    while (!ready.empty()) {
      const Moment candidate = *ready.begin();
      if (!engine_safe(r, Engine::kCompute, candidate, nullptr)) break;
      commit_compute(r, candidate);
      moved = true;
    }
  }
  return moved;
}

bool Timeline::is_safe(const ReadyMeeting& candidate, Meeting& meeting) {
  const auto safe_at = [&](size_t member) {
    return engine_safe(meeting.members[member], Engine::kLink, candidate.order, &candidate.key);
  };
  if (!safe_at(meeting.doubtful)) return false;
  for (size_t m = 0; m < meeting.members.size(); ++m) {
    if (safe_at(m)) continue;
    meeting.doubtful = m;
    return false;
  }
  return true;
}

// Assigns engines to candidates in their order. A meeting that may not start yet reserves its
// engines against later candidates.
bool Timeline::commit_pass() {
  bool moved = compute_pass();
  ++pass_;
  for (auto at = ready_meetings_.begin(); at != ready_meetings_.end();) {
    const ReadyMeeting candidate = *at++;
    Meeting& meeting = meetings_.at(candidate.key);
    const bool free = std::none_of(meeting.engines.begin(), meeting.engines.end(),
                                   [&](size_t e) { return engine_taken_[e] == pass_; });
    if (free && is_safe(candidate, meeting)) {
      at = ready_meetings_.erase(std::prev(at));
      commit_meeting(candidate);
      moved = true;
      continue;
    }
    if (at == ready_meetings_.end()) break;  // nothing comes after it
    for (const size_t engine : meeting.engines) engine_taken_[engine] = pass_;
  }
  return moved;
}

bool Timeline::may_happen(PendingEvent& pending) {
  const TimelineEvent& event = pending.event;
  const auto safe_at = [&](size_t i) {
    const Rank r = event.ranks[i];
    return *ranks_[index(r)].events.begin() == event.at && memory_safe(r, event.at);
  };
  if (!safe_at(pending.doubtful)) return false;
  for (size_t i = 0; i < event.ranks.size(); ++i) {
    if (safe_at(i)) continue;
    pending.doubtful = i;
    return false;
  }
  return true;
}

bool Timeline::release_pass(std::vector<TimelineEvent>& out) {
  bool moved = false;
  for (Rank r = 0; index(r) < ranks_.size(); ++r) {
    if (first_event_ns_[index(r)] >= open_until_ns_[index(r)]) continue;
    auto& events = ranks_[index(r)].events;
    while (!events.empty() && may_happen(events_.at(*events.begin()))) {
      release(*events.begin(), out);
      moved = true;
    }
  }
  return moved;
}

void Timeline::release(Moment at, std::vector<TimelineEvent>& out) {
  const TimelineEvent& kept = out.emplace_back(std::move(events_.extract(at).mapped().event));
  for (const Rank r : kept.ranks) {
    ranks_[index(r)].events.erase(at);
    note_fronts(r);
  }
  if (kept.at.phase != Moment::Phase::kFinish) return;
  if (Node* node = find(kept.at.task)) node->phase = Node::Phase::kGone;
  --in_flight_;
  Host& host = hosts_[index(kept.at.rank)];
  if (host.state.kind == HostState::Kind::kBlocked && host.state.waits_for == kept.at.task) {
    host.resumed = true;
    host.resumed_ns = kept.at.time_ns;
  }
}

// If every host is waiting or done, the globally earliest event or candidate is safe regardless of
// the bounds: nothing is issued before something finishes.
bool Timeline::force(std::vector<TimelineEvent>& out) {
  for (const Host& host : hosts_) {
    if (host.state.kind == HostState::Kind::kRunnable || host.resumed) return false;
  }
  const Moment* event = events_.empty() ? nullptr : &events_.begin()->first;
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
  if (event != nullptr && (!compute || event->time_ns <= compute->time_ns)) {
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
