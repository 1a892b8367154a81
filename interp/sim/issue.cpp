// Accepts tasks: stores them, and computes how long they take.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/collective_cost.h"
#include "hostir/ops/record.h"
#include "interp/core/communication_facts.h"
#include "interp/sim/backend_state.h"

namespace hostir::sim {

namespace {

// The bytes that nccl-tests would count: the larger of what this rank sends and receives. An
// exchange of blocks whose sizes differ takes as long as an even one that moves as much between the
// ranks: the rank's own block may be most of it, as when only borders move.
double stated_bytes(const interp::CommunicationItem& item, OpKind kind) {
  const int64_t element = size_bytes(item.dtype);
  const size_t ranks = item.send_counts.size();
  if (kind == OpKind::all_to_all && ranks > 1 && item.recv_counts.size() == ranks) {
    const auto others = [&](const interp::MemberCounts& counts) {
      return counts.total() - counts[static_cast<size_t>(item.position)];
    };
    const int64_t moved = std::max(others(item.send_counts), others(item.recv_counts)) * element;
    return static_cast<double>(moved) * static_cast<double>(ranks) / static_cast<double>(ranks - 1);
  }
  const int64_t in = item.in.allocation.valid() ? item.in.size_bytes : 0;
  const int64_t out = item.out.allocation.valid() ? item.out.size_bytes : 0;
  return static_cast<double>(
      std::max({in, out, item.send_counts.total() * element, item.recv_counts.total() * element}));
}

}  // namespace

BufferRef SimBackend::kept(BufferRef ref) {
  ref.placement = placements_.keep(ref.placement);
  ref.after = placements_.keep(ref.after);
  return ref;
}

StoredTask::Work SimBackend::work_of(const interp::Task& task) const {
  if (!task.items.empty()) return StoredTask::Work::kCommunication;
  const HostRole role = record(code_->instructions[task.code].kind).role;
  if (role == HostRole::kLaunch) return StoredTask::Work::kLaunch;
  if (role == HostRole::kAlloc) return StoredTask::Work::kAlloc;
  if (role == HostRole::kFree) return StoredTask::Work::kFree;
  return StoredTask::Work::kNone;
}

const Error* SimBackend::issue(std::span<const interp::Task> tasks) {
  for (const interp::Task& task : tasks) {
    if (const Error* refused = issue_one(task)) return refused;
  }
  return nullptr;
}

const Error* SimBackend::issue_one(const interp::Task& task) {
  inputs_.clear();
  ends_.clear();
  StoredTask stored;
  stored.work = work_of(task);
  stored.id = task.id;
  stored.code = task.code;
  for (const BufferRef& ref : task.buffers) stored.buffers.push_back(kept(ref));
  TimedTask timed;
  timed.id = task.id;
  timed.stream = task.stream;
  timed.issued_ns = task.issued_ns;
  for (const interp::StartDelay& delay : options_.delays) {
    const bool is_here = delay.rank == interp::kNoRank || delay.rank == task.rank;
    if (is_here && delay.code == task.code) timed.issued_ns += delay.delay_ns;
  }
  timed.waits_for.assign(task.waits_for.begin(), task.waits_for.end());
  if (stored.work == StoredTask::Work::kAlloc && !fits(task)) return &refusal_;
  if (stored.work == StoredTask::Work::kCommunication) store_items(task, stored, timed);
  if (stored.work == StoredTask::Work::kLaunch && !find_plan(task, stored, timed)) {
    return &refusal_;
  }
  state_.tasks.emplace(task.id, std::make_shared<const StoredTask>(std::move(stored)));
  state_.timeline.add(std::move(timed));
  return nullptr;
}

// False if a single buffer exceeds this machine's memory; sets `refusal_`.
bool SimBackend::fits(const interp::Task& task) {
  for (const BufferRef& ref : task.buffers) {
    const int64_t bytes = ref.offset_bytes + ref.size_bytes;
    if (bytes <= physical_bytes_ || !computes()) continue;
    refusal_ = fail(ErrorKind::kRuntime, "max_memory",
                    fmt::format("{} bytes are more than the memory of this computer, {}", bytes,
                                physical_bytes_))
                   .value();
    return false;
  }
  return true;
}

void SimBackend::store_items(const interp::Task& task, StoredTask& stored, TimedTask& timed) {
  timed.work = TimedTask::Work::kCommunication;
  for (const interp::CommunicationItem& item : task.items) {
    StoredItem& kept_item = stored.items.emplace_back();
    kept_item.kind = code_->instructions[item.code].kind;
    kept_item.dtype = item.dtype;
    kept_item.reduction = item.reduction;
    kept_item.root = item.root;
    kept_item.pairs = item.pairs;
    kept_item.contribution = {task.rank, kept(item.in), kept(item.out), item.send_counts,
                              item.recv_counts};
    const auto received =
        interp::received_bytes(item, *interp::communication_facts(kept_item.kind));
    kept_item.received_bytes = received.hi - received.lo;
    timed.items.push_back(timed_item(item, kept_item.kind, task.rank, task.items.size() > 1));
  }
}

TimedItem SimBackend::timed_item(const interp::CommunicationItem& item, OpKind kind, Rank rank,
                                 bool grouped) {
  TimedItem out;
  out.key = key_of(rank, item);
  out.position = static_cast<uint32_t>(item.position);
  out.members = item.members;
  if (item.is_pair()) {
    out.position = item.sends() ? 0 : 1;
    out.uses_out = item.sends();
    out.uses_in = !item.sends();
    const auto member = [&](int32_t position) {
      const auto at = static_cast<size_t>(position);
      return at < item.members.size() ? item.members[at] : rank;
    };
    out.members = ends_.emplace_back(std::array{member(out.key.source), member(out.key.target)});
  }
  const ItemCost cost = cost_of(item, kind, out.members);
  if (options_.members == SimOptions::Members::kAlike && !item.is_pair()) {
    out.members = out.members.subspan(out.position, 1);
    out.position = 0;
  }
  const Schedule schedule{options_.seed, options_.schedule};
  const ScheduleKey key{1, (uint64_t{out.key.comm} << 32) | static_cast<uint32_t>(out.key.first),
                        (item.sequence << 16) ^ (static_cast<uint64_t>(out.key.source + 1) << 8) ^
                            static_cast<uint64_t>(out.key.target + 1)};
  out.duration_ns = scaled(schedule, key, static_cast<int64_t>(cost.ns));
  // Members of a group{} overlap their latencies and share the links for their bytes.
  out.occupied_ns = grouped ? scaled(schedule, key, static_cast<int64_t>(cost.ns - cost.latency_ns))
                            : out.duration_ns;
  const auto bytes = static_cast<int64_t>(cost.bytes);
  const auto capacity = static_cast<int64_t>(options_.machine.p2p_buffer_bytes);
  if (!item.is_pair() || capacity <= 0 || bytes > capacity) return out;
  out.buffered = {bytes, capacity};
  if (out.position == 1) {  // a copy out of the buffer; the link's time is the sender's
    const double bandwidth = options_.machine.memory_bandwidth_bytes_per_s;
    out.uses_in = false;
    out.duration_ns = static_cast<int64_t>(bandwidth > 0 ? 2 * cost.bytes / bandwidth * 1e9 : 0);
    out.occupied_ns = 1;
  }
  return out;
}

SimBackend::ItemCost SimBackend::cost_of(const interp::CommunicationItem& item, OpKind kind,
                                         std::span<const Rank> members) {
  const Machine& machine = options_.machine;
  const bool whole_group = members.data() == item.members.data();
  const auto known = whole_group ? group_places_.find(members.data()) : group_places_.end();
  GroupPlace place = known != group_places_.end() ? known->second : place_group(machine, members);
  if (whole_group && known == group_places_.end()) group_places_.emplace(members.data(), place);
  place.ranks = static_cast<int64_t>(item.members.size());
  ItemCost cost;
  cost.bytes = stated_bytes(item, kind);
  if (place.ranks <= 1) {  // a copy in local memory
    cost.latency_ns = machine.launch_ns;
    const double bandwidth = machine.memory_bandwidth_bytes_per_s;
    cost.ns = cost.latency_ns + (bandwidth > 0 ? 2 * cost.bytes / bandwidth * 1e9 : 0);
    return cost;
  }
  cost.ns = collective_ns(machine, kind, cost.bytes, place);
  cost.latency_ns = collective_ns(machine, kind, 0, place);
  return cost;
}

// False if no kernel exists for these operands; sets `refusal_`.
bool SimBackend::find_plan(const interp::Task& task, StoredTask& stored, TimedTask& timed) {
  timed.work = TimedTask::Work::kCompute;
  const auto operands = interp::placements_of(stored.buffers, roles_of(stored.buffers));
  auto plan = plans_.find(task.code, task.rank, operands.parameters, operands.results);
  if (!plan) {
    refusal_ = std::move(plan.error());
    return false;
  }
  stored.plan = *plan;
  timed.duration_ns = scaled({options_.seed, options_.schedule},
                             {0, static_cast<uint64_t>(task.rank), interp::task_number(task.id)},
                             stored.plan->duration_ns);
  return true;
}

}  // namespace hostir::sim
