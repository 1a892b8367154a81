#include "interp/null/null_backend.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "hostir/support/lists.h"

namespace hostir::interp {

namespace {

class NullCheckpoint final : public BackendCheckpoint {
 public:
  explicit NullCheckpoint(NullBackend::Queues saved) : queues(std::move(saved)) {}
  int64_t memory_bytes() const override {
    return static_cast<int64_t>(queues.held * sizeof(NullBackend::Held));
  }
  NullBackend::Queues queues;
};

}  // namespace

NullBackend::NullBackend(NullOptions options)
    : options_(std::move(options)), plays_(options_.task_ns > 0 || !options_.local_ranks.empty()) {}

NullBackend::Meeting NullBackend::meeting_of(const CommunicationItem& item, Rank rank) const {
  NullBackend::Meeting m;
  m.comm = item.comm;
  m.sequence = item.sequence;
  m.first = item.members.front();
  m.members = static_cast<uint32_t>(item.members.size());
  const auto count_remote = [&](Rank member) {
    if (is_local(member)) return;
    ++m.remote;
    m.hopeless = m.hopeless || contains(options_.absent_ranks, member);
  };
  if (item.is_pair()) {
    const Rank other = item.other();
    m.first = item.sends() ? rank : other;
    m.second = item.sends() ? other : rank;
    m.members = 2;
    if (item.sends()) m.sent_bytes = item.in.size_bytes;
    count_remote(other);
  } else if (!options_.local_ranks.empty()) {
    for (const Rank member : item.members) count_remote(member);
  }
  return m;
}

bool NullBackend::is_local(Rank rank) const {
  return options_.local_ranks.empty() || contains(options_.local_ranks, rank);
}

int64_t NullBackend::now_ns() const {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count();
}

Capabilities NullBackend::capabilities() const {
  Capabilities c;
  c.name = "null";
  c.clock = plays_ ? ClockDomain::kHost : ClockDomain::kVirtual;
  c.local_ranks = options_.local_ranks;
  return c;
}

Expected<void> NullBackend::prepare(const Code& code) {
  stream_count_ = code.streams.size();
  queues_ = {};
  queues_.streams.resize(stream_count_ * static_cast<size_t>(code.rank_count));
  queues_.awake.resize((queues_.streams.size() + 63) / 64);
  return {};
}

Expected<void> NullBackend::write(Rank, AllocationId, const Placement&, int64_t,
                                  std::span<const std::byte>) {
  return {};
}

const Error* NullBackend::issue(std::span<const Task> tasks) {
  for (const Task& task : tasks) issue_one(task);
  return nullptr;
}

void NullBackend::issue_one(const Task& task) {
  const size_t index = static_cast<size_t>(task.rank) * stream_count_ + task.stream;
  auto& stream = queues_.streams[index];
  const bool alone =
      task.items.empty() || (task.items.size() == 1 && task.items[0].members.size() == 1);
  const auto waits = [&] {
    return std::any_of(task.waits_for.begin(), task.waits_for.end(),
                       [&](TaskId on) { return is_held(on); });
  };
  if (!plays_ && stream.empty() && alone && (task.waits_for.empty() || !waits())) {
    queues_.done.push_back({task.id, task.issued_ns, task.issued_ns, task.issued_ns});
    return;
  }
  if (stream.empty()) wake(index);
  Held& held = stream.emplace_back();
  held.id = task.id;
  held.issued_ns = task.issued_ns;
  for (const TaskId on : task.waits_for) {
    if (is_held(on)) held.waits.push_back(on);  // rare: runnable tasks complete at once
  }
  for (const CommunicationItem& item : task.items) {
    const Meeting meeting = meeting_of(item, task.rank);
    if (held.meeting.members == 0) {
      held.meeting = meeting;
    } else {
      held.more.push_back(meeting);
    }
  }
  ++queues_.held;
}

bool NullBackend::is_held(TaskId id) const {
  const size_t first = static_cast<size_t>(task_rank(id)) * stream_count_;
  for (size_t s = first; s < first + stream_count_; ++s) {
    for (const Held& held : queues_.streams[s]) {
      if (held.id == id) return true;
    }
  }
  return false;
}

NullBackend::Place& NullBackend::place(const Meeting& m) {
  for (Place& p : queues_.places) {
    const Meeting& q = p.meeting;
    if (q.comm == m.comm && q.sequence == m.sequence && q.first == m.first &&
        q.second == m.second) {
      return p;
    }
  }
  Place& made = queues_.places.emplace_back();
  made.meeting = m;
  return made;
}

void NullBackend::leave(Place& p) {
  if (++p.left < p.meeting.members - p.meeting.remote) return;
  p = queues_.places.back();
  queues_.places.pop_back();
}

// The last arrival releases all members, wherever they are.
NullBackend::Place& NullBackend::arrive(const Meeting& meeting) {
  Place& p = place(meeting);
  if (++p.arrived < meeting.members - meeting.remote) return p;
  if (meeting.remote > 0 && !meeting.hopeless) p.remote_due_ns = now_ns() + options_.remote_ns;
  for (size_t s = 0; s < queues_.streams.size(); ++s) {
    if (!queues_.streams[s].empty()) wake(s);
  }
  return p;
}

// True if all members have arrived, remote ones according to the clock.
bool NullBackend::has_met(Place& p) const {
  if (p.remote_due_ns >= 0 && now_ns() >= p.remote_due_ns) {
    p.arrived = p.meeting.members;
    p.remote_due_ns = -1;
  }
  return p.arrived == p.meeting.members;
}

// True if a member of the meeting need not wait any longer: it has met, or the member is a send
// that finds room in the connection's buffer.
bool NullBackend::is_over(const Meeting& m, Place& p) const {
  if (has_met(p)) return true;
  if (m.sent_bytes < 0 || m.sent_bytes > options_.p2p_buffer_bytes ||
      options_.p2p_buffer_bytes == 0) {
    return false;
  }
  int64_t bytes = m.sent_bytes;
  for (const Place& q : queues_.places) {
    const bool on_the_way = q.buffered && q.arrived < q.meeting.members;
    if (on_the_way && q.meeting.comm == m.comm && q.meeting.first == m.first &&
        q.meeting.second == m.second && q.meeting.sequence != m.sequence) {
      bytes += q.meeting.sent_bytes;
    }
  }
  if (!p.buffered) p.meeting.sent_bytes = m.sent_bytes;
  p.buffered = p.buffered || bytes <= options_.p2p_buffer_bytes;
  return p.buffered;
}

// True if its time has passed; the time starts at the first call.
bool NullBackend::is_due(Held& task) const {
  if (task.due_ns < 0) task.due_ns = now_ns() + options_.task_ns;
  return now_ns() >= task.due_ns;
}

// True if the task has finished and has left its meetings.
bool NullBackend::finish(Held& task) {
  for (const TaskId on : task.waits) {
    if (is_held(on)) return false;
  }
  if (task.meeting.members == 0) return !plays_ || is_due(task);
  const bool arrives = !std::exchange(task.arrived, true);
  if (task.more.empty()) {  // the common case looks up its place once
    Place& p = arrives ? arrive(task.meeting) : place(task.meeting);
    if (!is_over(task.meeting, p) || (plays_ && !is_due(task))) return false;
    leave(p);
    return true;
  }
  if (arrives) {
    arrive(task.meeting);
    for (const Meeting& m : task.more) arrive(m);
  }
  const auto complete = [&](const Meeting& m) { return is_over(m, place(m)); };
  if (!complete(task.meeting) || !std::all_of(task.more.begin(), task.more.end(), complete)) {
    return false;
  }
  if (plays_ && !is_due(task)) return false;
  leave(place(task.meeting));
  for (const Meeting& m : task.more) leave(place(m));
  return true;
}

// Advances heads of streams until none can move, in passes over the streams whose state changed.
void NullBackend::release() {
  while (queues_.any_awake) {
    queues_.any_awake = false;
    for (size_t w = 0; w < queues_.awake.size(); ++w) {
      for (unsigned from = 0; from < 64;) {
        const uint64_t rest = queues_.awake[w] >> from;
        if (rest == 0) break;
        const unsigned bit = from + static_cast<unsigned>(std::countr_zero(rest));
        queues_.awake[w] &= ~(uint64_t{1} << bit);
        release_head(w * 64 + bit);
        from = bit + 1;
      }
    }
  }
}

void NullBackend::release_head(size_t index) {
  auto& stream = queues_.streams[index];
  while (!stream.empty() && finish(stream.front())) {
    const Held& head = stream.front();
    const int64_t started_ns =
        plays_ ? std::max(head.issued_ns, head.due_ns - options_.task_ns) : head.issued_ns;
    queues_.done.push_back({head.id, started_ns,
                            plays_ ? std::max(started_ns, head.due_ns) : started_ns, started_ns,
                            plays_ ? ClockDomain::kHost : ClockDomain::kVirtual});
    stream.erase(stream.begin());
    --queues_.held;
    // Other streams of the rank may be waiting for it.
    const size_t first = index - index % stream_count_;
    for (size_t s = first; s < first + stream_count_; ++s) {
      if (!queues_.streams[s].empty()) wake(s);
    }
  }
}

// True if time alone changes something: a task is running, or remote members may still arrive. This
// process cannot know that an absent member never arrives.
bool NullBackend::is_pending() const {
  if (!plays_) return false;
  for (const auto& stream : queues_.streams) {
    if (!stream.empty() && stream.front().due_ns >= 0) return true;
  }
  return std::any_of(queues_.places.begin(), queues_.places.end(), [](const Place& p) {
    return p.remote_due_ns >= 0 ||
           (p.meeting.hopeless && p.arrived == p.meeting.members - p.meeting.remote);
  });
}

Progress NullBackend::poll(const Hosts&, CompletionSink& sink) {
  for (size_t s = 0; plays_ && s < queues_.streams.size(); ++s) {
    if (!queues_.streams[s].empty()) wake(s);
  }
  if (queues_.any_awake) release();
  const auto before = [](const Completion& a, const Completion& b) {
    return std::tuple(a.finished_ns, a.id) <
           std::tuple(b.finished_ns, b.id);  // the upper bits of ids are ranks
  };
  std::sort(queues_.done.begin(), queues_.done.end(), before);
  if (queues_.done.empty()) return is_pending() ? Progress::kPending : Progress::kQuiescent;
  for (const Completion& completion : queues_.done) sink.completed(completion);
  queues_.done.clear();
  return Progress::kProgressed;
}

Expected<Tensor> NullBackend::read(Rank, const BufferRef& buffer, const Box& box) const {
  return Tensor::zeros(buffer.placement->dtype, box.extents());
}

Expected<std::unique_ptr<BackendCheckpoint>> NullBackend::checkpoint() const {
  return std::unique_ptr<BackendCheckpoint>(std::make_unique<NullCheckpoint>(queues_));
}

Expected<void> NullBackend::restore(const BackendCheckpoint& checkpoint) {
  queues_ = static_cast<const NullCheckpoint&>(checkpoint).queues;
  return {};
}

}  // namespace hostir::interp
