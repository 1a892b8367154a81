// Decides what may happen now: assigns engines to tasks and releases events, in rounds until
// nothing changes.
//
// advance() is called after every decision of any rank. Nearly always nothing may happen yet,
// because some host could still issue something earlier. So it visits only ranks where something is
// due before their host could issue. Whatever was refused remembers the rank that prevented it, and
// that rank is checked first.
#include <algorithm>

#include "interp/sim/timeline.h"

namespace hostir::sim {

void Timeline::take_host(Rank rank, const HostState& state) {
  Host& host = hosts_[index(rank)];
  const auto runs = [&] { return host.state.kind == HostState::Kind::kRunnable; };
  runnable_ -= runs() ? 1U : 0U;
  host.state = state;
  runnable_ += runs() ? 1U : 0U;
  open_until_ns_[index(rank)] = runs() ? state.clock_ns + 1 : kNothing;
  note_open(rank);
}

void Timeline::advance(const interp::Hosts& hosts, std::vector<TimelineEvent>& out) {
  for (const Rank r : resumed_) hosts_[index(r)].resumed = false;
  resumed_.clear();
  if (hosts.changed) {
    for (const Rank r : *hosts.changed) take_host(r, hosts.states[index(r)]);
  } else {
    for (Rank r = 0; index(r) < hosts_.size(); ++r) {
      take_host(r, index(r) < hosts.states.size() ? hosts.states[index(r)] : HostState{});
    }
  }
  if (idle()) return;
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  bool moved = true;
  while (moved) {
    ++round_;
    moved = commit_pass();
    moved = release_pass(out) || moved;
    if (!moved) moved = force(out);
  }
  for (const Rank r : finished_) drop_gone(r);
  finished_.clear();
  std::sort(out.begin() + begin, out.end(),
            [](const TimelineEvent& a, const TimelineEvent& b) { return a.at < b.at; });
}

bool Timeline::compute_pass() {
  bool moved = false;
  for (Rank r = open_compute_.first(); r != interp::kNoRank; r = open_compute_.next(r + 1)) {
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

// True if all of `count` entries are safe; otherwise `doubtful` is the index of one that is not.
// The search starts there, so that waiting for all of them in turn does not take quadratic time.
template <class IsSafe>
bool find_doubtful(size_t& doubtful, size_t count, const IsSafe& is_safe) {
  const size_t first = doubtful;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = first + i < count ? first + i : first + i - count;
    if (is_safe(at)) continue;
    doubtful = at;
    return false;
  }
  return true;
}

bool Timeline::is_safe(const ReadyMeeting& candidate, Meeting& meeting) {
  const auto safe_at = [&](size_t member) {
    return engine_safe(meeting.members[member], Engine::kLink, candidate.order, &candidate.key);
  };
  return find_doubtful(meeting.doubtful, meeting.members.size(), safe_at);
}

// Assigns engines to candidates in their order. A meeting that may not start yet reserves its
// engines against later candidates.
bool Timeline::commit_pass() {
  bool moved = compute_pass();
  ++pass_;
  for (auto at = ready_meetings_.begin(); at != ready_meetings_.end();) {
    const ReadyMeeting candidate = *at++;
    Meeting& meeting = meetings_.at(candidate.key);
    const auto is_free = [&] {
      return std::none_of(meeting.engines.begin(), meeting.engines.end(),
                          [&](size_t e) { return engine_taken_[e] == pass_; });
    };
    if (is_free() && is_safe(candidate, meeting)) {
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
  return find_doubtful(pending.doubtful, event.ranks.size(), safe_at);
}

bool Timeline::release_pass(std::vector<TimelineEvent>& out) {
  bool moved = false;
  for (Rank r = open_events_.first(); r != interp::kNoRank; r = open_events_.next(r + 1)) {
    auto& events = ranks_[index(r)].events;
    while (!events.empty()) {
      PendingEvent& pending = events_.at(*events.begin());
      if (may_happen(pending)) {
        release(*events.begin(), out);
        moved = true;
        continue;
      }
      // Of a meeting's ranks, only the doubtful one is checked again.
      if (const Rank doubtful = pending.event.ranks[pending.doubtful]; doubtful != r) {
        open_events_.set(r, false);
        note_open(doubtful);
      }
      break;
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
  if (Node* node = find(kept.at.task)) {
    node->phase = Node::Phase::kGone;
    finished_.push_back(kept.at.rank);
  }
  --in_flight_;
  Host& host = hosts_[index(kept.at.rank)];
  if (host.state.kind == HostState::Kind::kBlocked && host.state.waits_for == kept.at.task) {
    host.resumed = true;
    resumed_.push_back(kept.at.rank);
    host.resumed_ns = kept.at.time_ns;
  }
}

// If every host is waiting or done, the globally earliest event or candidate is safe regardless of
// the bounds: nothing is issued before something finishes.
bool Timeline::force(std::vector<TimelineEvent>& out) {
  if (runnable_ > 0 || !resumed_.empty()) return false;
  const Moment* event = events_.empty() ? nullptr : &events_.begin()->first;
  std::optional<Moment> compute;
  // No host can run, so every rank with something to compute is open.
  for (Rank r = open_compute_.first(); r != interp::kNoRank; r = open_compute_.next(r + 1)) {
    const Moment& first = *ranks_[index(r)].ready_compute.begin();
    compute = compute ? std::min(*compute, first) : first;
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
