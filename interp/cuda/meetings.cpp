// Communication: meetings on one device, and calls to other devices.
#include <fmt/core.h>

#include <algorithm>

#include "interp/cuda/device_backend.h"

namespace hostir::cuda {

namespace {

// The index in the exchange: a send/recv pair has the sender first.
size_t place_of(const interp::CommunicationItem& item) {
  if (!item.is_pair()) return static_cast<size_t>(item.position);
  return item.sends() ? 0 : 1;
}

}  // namespace

// True if all members are on the same device as this rank.
bool DeviceBackend::meets_on_device(Rank rank, const interp::CommunicationItem& item) const {
  const Device* device = device_of_[static_cast<size_t>(rank)];
  const auto is_here = [&](Rank r) { return device_of_[static_cast<size_t>(r)] == device; };
  if (item.is_pair()) return is_here(item.other());
  return std::all_of(item.members.begin(), item.members.end(), is_here);
}

Exchange DeviceBackend::exchange_of(Rank rank, const interp::CommunicationItem& item) const {
  Exchange out;
  out.kind = code_->instructions[item.code].kind;
  out.dtype = item.dtype;
  out.reduction = item.reduction;
  out.root = item.root;
  out.pairs.assign(item.pairs.begin(), item.pairs.end());
  out.members.resize(item.is_pair() ? 2 : item.members.size());
  if (item.is_pair()) {
    const MeetingKey key = key_of(rank, item);
    out.pairs = {{key.source, key.target}};
  }
  return out;
}

Member DeviceBackend::member_of(Rank rank, const interp::CommunicationItem& item) {
  Member out;
  out.rank = rank;
  out.in = side(rank, item.in);
  out.out = side(rank, item.out);
  out.has_out = item.out.allocation.valid() && out.out.data != nullptr;
  out.send_counts = item.send_counts.list();
  out.recv_counts = item.recv_counts.list();
  return out;
}

// NCCL connects two ranks at their first send and recv. If two sends face each other it connects
// them wrongly, and later recvs never end. So in one process a send or recv is held until its
// partner has arrived, as on one device.
bool DeviceBackend::awaits_partner(const interp::CommunicationItem& item) const {
  return item.is_pair() && rendezvous_ == nullptr && !capturing_;
}

void DeviceBackend::arrive(Queue& queue, Held& task) {
  task.arrived = true;
  bool calls = false;
  std::vector<Early> complete;
  // Count first: the last member to arrive runs its meeting immediately.
  for (const auto& item : task.items) {
    if (meets_here(task.rank, item)) {
      ++task.open_meetings;
      continue;
    }
    calls = true;
    if (!awaits_partner(item)) continue;
    const auto [at, first] = early_.try_emplace(key_of(task.rank, item), Early{&queue, &task});
    if (first) {
      ++task.absent_partners;
      continue;
    }
    if (--at->second.task->absent_partners == 0) complete.push_back(at->second);
    early_.erase(at);
  }
  if (calls && task.absent_partners == 0) start_call(queue, task);
  for (const Early& partner : complete) {
    start_call(*partner.queue, *partner.task);
    wake(*partner.queue);
  }
  for (const interp::CommunicationItem& item : task.items) {
    if (meets_here(task.rank, item)) join(queue, task, item);
  }
}

void DeviceBackend::start_call(Queue& queue, Held& task) {
  std::vector<WireCall> calls;
  std::vector<MeetingKey> keys;
  for (const interp::CommunicationItem& item : task.items) {
    if (meets_here(task.rank, item)) continue;
    WireCall call;
    call.comm = item.comm;
    call.rank = task.rank;
    call.position = place_of(item);
    call.exchange = exchange_of(task.rank, item);
    call.exchange.members[call.position] = member_of(task.rank, item);
    calls.push_back(std::move(call));
    keys.push_back(key_of(task.rank, item));
    const size_t members = item.is_pair() ? 2 : item.members.size();
    if (rendezvous_ == nullptr && !capturing_) members_left_.try_emplace(keys.back(), members);
  }
  task.activity = begin_activity();
  queue.device->finish_launches();
  task.wire_call = network_->start(calls, *queue.device, queue.stream);
  end_activity(task.activity);
  if (rendezvous_ == nullptr && !capturing_) meetings_of_call_[task.wire_call] = std::move(keys);
  if (!network_->is_enqueued(task.wire_call)) starting_.push_back(&queue);
}

void DeviceBackend::end_call(int64_t call) {
  network_->finished(call);
  const auto found = meetings_of_call_.find(call);
  if (found == meetings_of_call_.end()) return;
  for (const MeetingKey& key : found->second) {
    const auto left = members_left_.find(key);
    if (--left->second == 0) members_left_.erase(left);
  }
  meetings_of_call_.erase(found);
}

void DeviceBackend::join(Queue& queue, Held& task, const interp::CommunicationItem& item) {
  const MeetingKey key = key_of(task.rank, item);
  const auto [at, added] = meetings_.try_emplace(key);
  Meeting& meeting = at->second;
  if (added) {
    meeting.exchange = exchange_of(task.rank, item);
    meeting.queues.resize(meeting.exchange.members.size(), nullptr);
    meeting.tasks.resize(meeting.queues.size(), nullptr);
  }
  const size_t position = place_of(item);
  if (position >= meeting.queues.size() || meeting.queues[position] != nullptr) {
    --task.open_meetings;  // the interpreter has reported it
    return;
  }
  meeting.exchange.members[position] = member_of(task.rank, item);
  meeting.queues[position] = &queue;
  meeting.tasks[position] = &task;
  ++meeting.arrived;
  MeetingKey ends = key;
  ends.sequence = 0;
  const bool on_device = meets_on_device(task.rank, item);
  const bool has_buffers = item.is_pair() && on_device && options_.machine.p2p_buffer_bytes > 0;
  Connection* connection = has_buffers ? &connections_[ends] : nullptr;
  if (meeting.arrived < meeting.queues.size()) {
    if (connection == nullptr || !item.sends() || !may_buffer(item)) return;
    connection->waiting.push_back(key);
    return fill_buffers(*connection);
  }
  Meeting complete = std::move(meeting);
  meetings_.erase(at);
  if (complete.buffer != nullptr) return receive(complete, *connection);
  on_device ? run(complete) : run_between_devices(complete);
  if (connection == nullptr) return;
  std::erase(connection->waiting, key);
  fill_buffers(*connection);
}

bool DeviceBackend::may_buffer(const interp::CommunicationItem& item) const {
  const auto capacity = static_cast<int64_t>(options_.machine.p2p_buffer_bytes);
  const int64_t bytes = item.sends() ? item.in.size_bytes : item.out.size_bytes;
  return item.is_pair() && bytes > 0 && bytes <= capacity;
}

// Copies messages into buffers while there is room, in the order of the sends. A send that had to
// wait for room continues after the recv that made room.
void DeviceBackend::fill_buffers(Connection& connection) {
  const auto capacity = static_cast<int64_t>(options_.machine.p2p_buffer_bytes);
  while (!connection.waiting.empty()) {
    Meeting& meeting = meetings_.at(connection.waiting.front());
    Side& message = meeting.exchange.members.front().in;
    if (connection.bytes + message.bytes > capacity) return;
    connection.waiting.pop_front();
    Queue& sender = *meeting.queues.front();
    Held& task = *meeting.tasks.front();
    auto* buffer = static_cast<std::byte*>(
        take_memory(*sender.device, std::max<int64_t>(message.bytes, 1), sender.stream));
    if (buffer == nullptr) {
      fail_task(task.id, "max_memory",
                fmt::format("device {} ({}) has no {} bytes left to buffer a send",
                            sender.device->index(), sender.device->name(), message.bytes));
      return;
    }
    if (connection.emptied != nullptr) {
      sender.device->wait(sender.stream, connection.emptied->handle());
    }
    const EventRef started = mark(sender);
    const ActivityRef activity = begin_activity();
    const Move copy{buffer, message.data, message.bytes};
    sender.device->move({&copy, 1}, sender.stream);
    end_activity(activity);
    meeting.filled = mark(sender);
    meeting.buffer = buffer;
    message.data = buffer;
    connection.bytes += message.bytes;
    meeting.tasks.front() = nullptr;
    finish_item(sender, task, started, activity);
  }
}

// On the receiver's stream, which then frees the buffer.
void DeviceBackend::receive(Meeting& meeting, Connection& connection) {
  Queue& receiver = *meeting.queues.back();
  Device& device = *receiver.device;
  device.wait(receiver.stream, meeting.filled->handle());
  const EventRef started = mark(receiver);
  const ActivityRef activity = begin_activity();
  Transfers transfers;
  moves_function(meeting.exchange.kind)(meeting.exchange, transfers);
  if (!transfers.moves.empty()) device.move(transfers.moves, receiver.stream);
  end_activity(activity);
  connection.emptied = mark(receiver);
  connection.bytes -= meeting.exchange.members.front().in.bytes;
  device.release(meeting.buffer, receiver.stream);
  finish_item(receiver, *meeting.tasks.back(), started, activity);
  fill_buffers(connection);
}

void DeviceBackend::finish_item(Queue& queue, Held& task, const EventRef& started,
                                const ActivityRef& activity) {
  task.started = started;
  task.activity = activity;
  --task.open_meetings;
  if (!capturing_) wake(queue);
}

// On one device: runs on the first member's stream, after all arrivals; then every stream
// continues.
void DeviceBackend::run(Meeting& meeting) {
  Queue& leader = *meeting.queues.front();
  const Held& first = *meeting.tasks.front();
  Device& device = *leader.device;
  for (size_t i = 1; i < meeting.queues.size(); ++i) {
    if (meeting.queues[i] == &leader) continue;
    device.wait(leader.stream, meeting.tasks[i]->queued->handle());
  }
  const EventRef started = mark(leader);
  const ActivityRef activity = begin_activity();
  Transfers transfers;
  moves_function(meeting.exchange.kind)(meeting.exchange, transfers);
  transfers.close();
  if (transfers.stage) {
    stage(transfers.moves, first, leader);
  } else if (!transfers.moves.empty()) {
    device.move(transfers.moves, leader.stream);
  }
  if (transfers.fold_inputs.size() > kMostFoldInputs) {
    fail_task(first.id, "cuda_members",
              fmt::format("{} ranks meet on one device; at most {} can add up there",
                          transfers.fold_inputs.size(), kMostFoldInputs));
  } else if (!transfers.fold_targets.empty()) {
    device.fold({meeting.exchange.reduction, meeting.exchange.dtype, transfers.fold_inputs,
                 transfers.fold_targets},
                leader.stream);
  }
  end_activity(activity);
  const EventRef done = mark(leader);
  for (size_t i = 0; i < meeting.queues.size(); ++i) {
    Queue& member = *meeting.queues[i];
    if (&member != &leader) device.wait(member.stream, done->handle());
    finish_item(member, *meeting.tasks[i], started, activity);
  }
}

// Copies what is read before anything is written.
void DeviceBackend::stage(std::vector<Move>& moves, const Held& task, Queue& queue) {
  if (capturing_) {
    capture_problem_ = code_->address(task.code) + " exchanges in place, which needs memory";
    return;
  }
  int64_t bytes = 0;
  for (const Move& m : moves) bytes += m.from == nullptr ? 0 : m.bytes;
  auto* scratch = static_cast<std::byte*>(take_memory(*queue.device, bytes, queue.stream));
  if (scratch == nullptr) {
    fail_task(task.id, "max_memory", "the device has no memory left to exchange buffers in place");
    return;
  }
  std::vector<Move> copies;
  int64_t at = 0;
  for (Move& m : moves) {
    if (m.from == nullptr) continue;
    copies.push_back({scratch + at, m.from, m.bytes});
    m.from = scratch + at;
    at += m.bytes;
  }
  queue.device->move(copies, queue.stream);
  queue.device->move(moves, queue.stream);
  queue.device->release(scratch, queue.stream);
}

}  // namespace hostir::cuda
