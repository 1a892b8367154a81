// Issuing, readiness and commitment of tasks. A task is ready when its stream's predecessor and all
// awaited events are committed, that is, have known finish times.
#include "interp/sim/timeline.h"

#include <algorithm>

namespace hostir::sim {

Timeline::Timeline(Rank rank_count)
    : ranks_(index(rank_count)),
      engine_free_ns_(3 * index(rank_count), 0),
      engine_taken_(3 * index(rank_count), 0),
      first_compute_ns_(index(rank_count), kNothing),
      first_event_ns_(index(rank_count), kNothing),
      hosts_(index(rank_count)),
      open_until_ns_(index(rank_count), kNothing),
      open_compute_(index(rank_count)),
      open_events_(index(rank_count)) {}

Timeline::Node* Timeline::find(TaskId id) {
  if (id == interp::kNoTask || index(interp::task_rank(id)) >= ranks_.size()) return nullptr;
  Queue& queue = ranks_[index(interp::task_rank(id))];
  const uint64_t number = interp::task_number(id);
  if (number < queue.base || number - queue.base >= queue.nodes.size()) return nullptr;
  Node& node = queue.nodes[number - queue.base];
  return node.phase == Node::Phase::kGone ? nullptr : &node;
}

Moment Timeline::order_of(const Node& node, int64_t ready) const {
  return {ready, Moment::Phase::kFinish, interp::task_rank(node.id), node.stream, node.id, 0};
}

void Timeline::add(TimedTask task) {
  const Rank rank = interp::task_rank(task.id);
  Queue& queue = ranks_[index(rank)];
  const uint64_t number = interp::task_number(task.id);
  if (queue.nodes.empty()) queue.base = number;
  while (queue.base + queue.nodes.size() < number) {
    queue.nodes.emplace_back().phase = Node::Phase::kGone;
  }
  Node& node = queue.nodes.emplace_back();
  ++in_flight_;
  node.id = task.id;
  node.stream = task.stream;
  node.work = task.items.empty() && task.work == TimedTask::Work::kCommunication
                  ? TimedTask::Work::kNone
                  : task.work;
  node.ready_ns = task.issued_ns;
  node.duration_ns = std::max<int64_t>(1, task.duration_ns);
  if (const auto tail = queue.tails.find(task.stream); tail != queue.tails.end()) {
    depend(node, tail->second);
  }
  queue.tails[task.stream] = task.id;
  queue.uncommitted[task.stream].push_back(task.id);
  for (const TaskId id : task.waits_for) depend(node, id);
  for (uint32_t i = 0; i < task.items.size(); ++i) arrive(node, task.items[i], i, task.issued_ns);
  if (node.pending == 0) newly_ready_.push_back(node.id);
  process_newly_ready();
}

void Timeline::depend(Node& node, TaskId on) {
  Node* other = find(on);
  if (other == nullptr || other == &node) return;
  if (other->phase == Node::Phase::kCommitted) {
    node.ready_ns = std::max(node.ready_ns, other->finished_ns);
    return;
  }
  other->dependents.push_back(node.id);
  node.dependencies.push_back(on);
  ++node.pending;
}

void Timeline::arrive(Node& node, const TimedItem& item, uint32_t item_index, int64_t issued_ns) {
  const Arrival arrival{item.position, node.id, item_index, node.stream, false};
  if (item.buffered && item.uses_out) return send_to_buffer(node, item, arrival, issued_ns);
  join(meetings_[item.key], item, arrival);
  node.meetings.push_back(item.key);
  ++node.open_items;
}

// The sender does not meet the receiver: once its bytes are in the buffer, the buffer takes its
// place in the transfer.
void Timeline::send_to_buffer(Node& node, const TimedItem& item, Arrival arrival,
                              int64_t issued_ns) {
  TimedItem filling = item;
  const Rank self = interp::task_rank(node.id);
  filling.key.into_buffer = true;
  filling.members = {&self, 1};
  filling.position = 0;
  Meeting& meeting = meetings_[filling.key];
  join(meeting, filling, arrival);
  node.meetings.push_back(filling.key);
  ++node.open_items;

  MeetingKey key = item.key;
  key.sequence = 0;
  Buffer& buffer = buffers_[key];
  make_room(buffer, item, issued_ns);
  if (buffer.room_after) {
    key.sequence = *buffer.room_after;
    if (const auto at = buffer.received_ns.find(key.sequence); at != buffer.received_ns.end()) {
      meeting.ready_ns = at->second;
    } else {
      meeting.room_after = key;
      ++meeting.needed;
      waits_for_room_[key].push_back(filling.key);
    }
  }
  TimedItem rest = item;
  rest.uses_out = false;
  rest.duration_ns = 1;  // the receiver's counts
  rest.occupied_ns = 1;
  arrival.from_buffer = true;
  join(meetings_[item.key], rest, arrival);
}

// Drops transfers that were received before this send was issued, because they cannot delay it or a
// later one.
void Timeline::make_room(Buffer& buffer, const TimedItem& item, int64_t issued_ns) {
  const auto is_over = [&](uint64_t sequence) {
    const auto at = buffer.received_ns.find(sequence);
    return at != buffer.received_ns.end() && at->second <= issued_ns;
  };
  const auto drop_first = [&] {
    buffer.bytes -= buffer.sent.front().bytes;
    buffer.sent.pop_front();
  };
  while (!buffer.sent.empty() && is_over(buffer.sent.front().sequence)) drop_first();
  if (buffer.room_after && is_over(*buffer.room_after)) buffer.room_after.reset();
  buffer.sent.push_back({item.key.sequence, item.buffered->bytes});
  buffer.bytes += item.buffered->bytes;
  while (buffer.bytes > item.buffered->capacity_bytes && buffer.sent.size() > 1) {
    buffer.room_after = buffer.sent.front().sequence;
    drop_first();
  }
  const uint64_t oldest = buffer.room_after.value_or(buffer.sent.front().sequence);
  buffer.received_ns.erase(buffer.received_ns.begin(), buffer.received_ns.lower_bound(oldest));
}

void Timeline::join(Meeting& meeting, const TimedItem& item, Arrival arrival) {
  if (meeting.arrivals.empty()) {
    meeting.members.assign(item.members.begin(), item.members.end());
    meeting.arrived.assign(item.members.size(), false);
    meeting.missing = item.members.size();
    meeting.needed = item.members.size();
  }
  meeting.arrivals.push_back(arrival);
  meeting.duration_ns = std::max({int64_t{1}, meeting.duration_ns, item.duration_ns});
  meeting.occupied_ns = std::max({int64_t{1}, meeting.occupied_ns, item.occupied_ns});
  if (item.position < meeting.arrived.size() && !meeting.arrived[item.position]) {
    meeting.arrived[item.position] = true;
    --meeting.missing;
  }
  const size_t rank = index(interp::task_rank(arrival.task));
  if (item.uses_out) meeting.engines.push_back(ranks_.size() + rank);
  if (item.uses_in) meeting.engines.push_back(2 * ranks_.size() + rank);
}

// Processes `newly_ready_`, in a loop because chains of tasks without work can be long.
void Timeline::process_newly_ready() {
  while (!newly_ready_.empty()) {
    Node* node = find(newly_ready_.front());
    newly_ready_.pop_front();
    if (node != nullptr) become_ready(*node);
  }
}

void Timeline::become_ready(Node& node) {
  node.phase = Node::Phase::kReady;
  node.dependencies.clear();
  switch (node.work) {
    case TimedTask::Work::kNone:
      return commit(node, node.ready_ns, node.ready_ns);
    case TimedTask::Work::kCompute:
      ranks_[index(interp::task_rank(node.id))].ready_compute.insert(order_of(node, node.ready_ns));
      note_fronts(interp::task_rank(node.id));
      return;
    case TimedTask::Work::kCommunication:
      for (const MeetingKey& key : node.meetings) enter_meeting(node.ready_ns, key);
      return;
  }
}

void Timeline::enter_meeting(int64_t ready_ns, const MeetingKey& key) {
  Meeting& meeting = meetings_[key];
  meeting.ready_ns = std::max(meeting.ready_ns, ready_ns);
  if (++meeting.ready_count < meeting.needed) return;
  const Arrival* lead = nullptr;  // of the smallest rank
  for (const Arrival& arrival : meeting.arrivals) {
    if (!arrival.from_buffer && (lead == nullptr || arrival.task < lead->task)) lead = &arrival;
  }
  const Moment order = {meeting.ready_ns,
                        Moment::Phase::kFinish,
                        interp::task_rank(lead->task),
                        lead->stream,
                        lead->task,
                        lead->item};
  ready_meetings_.insert({order, key});
}

// A full buffer is ready to be received; an emptied one has room for later sends.
void Timeline::hand_on(MeetingKey key, int64_t finished_ns) {
  if (key.into_buffer) {
    key.into_buffer = false;
    return enter_meeting(finished_ns, key);
  }
  MeetingKey connection = key;
  connection.sequence = 0;
  buffers_[connection].received_ns[key.sequence] = finished_ns;
  const auto waiting = waits_for_room_.extract(key);
  if (waiting.empty()) return;
  for (const MeetingKey& send : waiting.mapped()) enter_meeting(finished_ns, send);
}

void Timeline::commit_compute(Rank rank, const Moment& order) {
  Node& node = *find(order.task);
  ranks_[index(rank)].ready_compute.erase(order);
  note_fronts(rank);
  int64_t& free_ns = engine_free_ns_[index(rank)];
  const int64_t started = std::max(node.ready_ns, free_ns);
  free_ns = started + node.duration_ns;
  commit(node, started, free_ns);
  process_newly_ready();
}

void Timeline::commit_meeting(const ReadyMeeting& ready) {
  const auto found = meetings_.find(ready.key);
  Meeting meeting = std::move(found->second);
  meetings_.erase(found);
  int64_t started = meeting.ready_ns;
  for (const size_t engine : meeting.engines) started = std::max(started, engine_free_ns_[engine]);
  for (const size_t engine : meeting.engines) {
    engine_free_ns_[engine] = started + meeting.occupied_ns;
  }
  const int64_t finished = started + meeting.duration_ns;
  TimelineEvent event;
  event.at = ready.order;
  event.at.stream = 0;
  event.arrivals = meeting.arrivals;
  std::sort(event.arrivals.begin(), event.arrivals.end());
  bool is_buffered = ready.key.into_buffer;
  for (const Arrival& arrival : meeting.arrivals) {
    is_buffered = is_buffered || arrival.from_buffer;
    if (!arrival.from_buffer) event.ranks.push_back(interp::task_rank(arrival.task));
  }
  std::sort(event.ranks.begin(), event.ranks.end());
  event.ranks.erase(std::unique(event.ranks.begin(), event.ranks.end()), event.ranks.end());
  event.at.time_ns = started;
  event.at.phase = Moment::Phase::kStart;
  post(event);
  event.at.time_ns = finished;
  event.at.phase = Moment::Phase::kMeeting;
  post(std::move(event));
  for (const Arrival& arrival : meeting.arrivals) {
    if (arrival.from_buffer) continue;
    Node& node = *find(arrival.task);
    const bool first = node.finished_ns == 0;
    node.started_ns = first ? started : std::min(node.started_ns, started);
    node.finished_ns = std::max(node.finished_ns, finished);
    if (--node.open_items == 0) commit(node, node.started_ns, node.finished_ns);
  }
  if (is_buffered) hand_on(ready.key, finished);
  process_newly_ready();
}

void Timeline::commit(Node& node, int64_t started, int64_t finished) {
  node.phase = Node::Phase::kCommitted;
  node.started_ns = started;
  node.finished_ns = finished;
  Queue& queue = ranks_[index(interp::task_rank(node.id))];
  auto& stream = queue.uncommitted[node.stream];
  if (!stream.empty() && stream.front() == node.id) stream.pop_front();
  const Rank rank = interp::task_rank(node.id);
  TimelineEvent event;
  event.at = {finished, Moment::Phase::kFinish, rank, 0, node.id, 0};
  event.queued_ns = node.ready_ns;
  event.started_ns = started;
  event.ranks = {rank};
  if (node.work == TimedTask::Work::kCompute) {
    TimelineEvent start = event;
    start.at.time_ns = started;
    start.at.phase = Moment::Phase::kStart;
    post(std::move(start));
  }
  post(std::move(event));
  for (const TaskId id : node.dependents) {
    Node* dependent = find(id);
    if (dependent == nullptr) continue;
    dependent->ready_ns = std::max(dependent->ready_ns, finished);
    if (--dependent->pending == 0) newly_ready_.push_back(id);
  }
  node.dependents.clear();
}

void Timeline::post(TimelineEvent event) {
  for (const Rank rank : event.ranks) {
    ranks_[index(rank)].events.insert(event.at);
    note_fronts(rank);
  }
  const Moment at = event.at;
  events_.emplace(at, PendingEvent{std::move(event), 0});
}

void Timeline::note_fronts(Rank rank) {
  const Queue& queue = ranks_[index(rank)];
  const auto first = [](const std::set<Moment>& moments) {
    return moments.empty() ? kNothing : moments.begin()->time_ns;
  };
  first_compute_ns_[index(rank)] = first(queue.ready_compute);
  first_event_ns_[index(rank)] = first(queue.events);
  note_open(rank);
}

void Timeline::note_open(Rank rank) {
  const int64_t until = open_until_ns_[index(rank)];
  open_compute_.set(rank, first_compute_ns_[index(rank)] < until);
  open_events_.set(rank, first_event_ns_[index(rank)] < until);
}

}  // namespace hostir::sim
