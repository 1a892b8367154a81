// Executes timeline events on memory. Reads and writes both happen at the finish time.

#include "hostir/ir/access.h"
#include "hostir/support/hash.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/core/engine/operand_overlap.h"
#include "interp/core/value_stats.h"
#include "interp/sim/backend_state.h"
#include "interp/sim/buffer_observer.h"

namespace hostir::sim {

// Completions are delivered one by one as they happen: events of one poll are in order of finish
// time, rank and id, and the sink may read memory as it was at that moment.
interp::Progress SimBackend::poll(const interp::Hosts& hosts, interp::CompletionSink& sink) {
  events_.clear();
  state_.timeline.advance(hosts, events_);
  bool completed = false;
  for (const TimelineEvent& event : events_) {
    switch (event.at.phase) {
      case Moment::Phase::kStart:
        start(event);
        break;
      case Moment::Phase::kMeeting:
        exchange(event);
        break;
      case Moment::Phase::kFinish:
        finish(event, sink);
        completed = true;
        break;
    }
  }
  return completed ? interp::Progress::kProgressed : interp::Progress::kQuiescent;
}

// Overwritten operands are undefined from the start on, except for what the exchange still reads.
void SimBackend::start(const TimelineEvent& event) {
  if (!computes()) return;
  if (event.arrivals.empty()) {
    for (const BufferRef& ref : state_.tasks.at(event.at.task)->buffers) {
      if (ref.access != Access::kWrite || !ref.allocation.valid()) continue;
      if (ref.strides_elems.empty()) state_.memory.poison(event.at.rank, ref);
    }
    return;
  }
  for (const Arrival& arrival : event.arrivals) {
    if (arrival.from_buffer) continue;
    const StoredItem& item = state_.tasks.at(arrival.task)->items[arrival.item];
    const Contribution& c = item.contribution;
    BufferRef out = c.out;
    out.size_bytes = item.received_bytes;
    if (out.allocation.valid() && out.access == Access::kWrite && out.size_bytes > 0 &&
        !interp::share_bytes(c.in, c.out)) {
      state_.memory.poison(c.rank, out);
    }
  }
}

void SimBackend::exchange(const TimelineEvent& event) {
  if (!computes() && options_.observer == nullptr) return;
  std::vector<Contribution> members;
  for (const Arrival& arrival : event.arrivals) {
    if (arrival.from_buffer) continue;
    members.push_back(state_.tasks.at(arrival.task)->items[arrival.item].contribution);
  }
  const Arrival& first = event.arrivals.front();  // a sender comes before its receiver
  const Arrival& last = event.arrivals.back();
  const StoredItem& item = state_.tasks.at(last.task)->items[last.item];
  if (options_.observer != nullptr) {
    const interp::CodeIndex code = state_.tasks.at(last.task)->code;
    options_.observer->exchanged({code, item.kind, item.reduction, item.root, item.pairs, members});
  }
  if (!computes()) return;
  const bool is_sent_alone = item.kind == OpKind::send && members.size() == 1;
  Exchange data(state_.memory, item.dtype, item.reduction, item.root, item.pairs,
                std::move(members));
  if (first.from_buffer) {
    const auto sent = state_.buffered.extract({first.task, first.item});
    return data.give(0, sent.mapped());
  }
  if (is_sent_alone) {
    state_.buffered[{first.task, first.item}] = data.in(0);
    return;
  }
  if (const ExchangeFunction function = exchange_function(item.kind)) function(data);
}

void SimBackend::finish(const TimelineEvent& event, interp::CompletionSink& sink) {
  auto node = state_.tasks.extract(event.at.task);
  const StoredTask& task = *node.mapped();
  for (const BufferRef& ref : task.buffers) {
    BufferObserver* observer = options_.observer;
    if (observer != nullptr && task.work == StoredTask::Work::kAlloc)
      observer->allocated(event.at.rank, ref);
    if (observer != nullptr && task.work == StoredTask::Work::kFree)
      observer->released(event.at.rank, ref);
    if (task.work == StoredTask::Work::kAlloc) {
      state_.memory.allocate(event.at.rank, ref.allocation, ref.offset_bytes + ref.size_bytes);
    } else if (task.work == StoredTask::Work::kFree) {
      state_.memory.release(event.at.rank, ref.allocation);
    }
  }
  if (task.work == StoredTask::Work::kLaunch && options_.observer != nullptr)
    options_.observer->launched(event.at.rank, task.code, task.buffers);
  if (task.work == StoredTask::Work::kLaunch && computes()) launch(task);
  sink.completed({task.id, event.started_ns, event.at.time_ns, event.queued_ns});
  if (value_mode_ != ValueMode::kNone && computes()) summarise(task, sink);
}

void SimBackend::summarise(const StoredTask& task, interp::CompletionSink& sink) {
  uint16_t operand = 0;
  const bool writes =
      task.work == StoredTask::Work::kLaunch || task.work == StoredTask::Work::kCommunication;
  if (!writes) return;
  for (const BufferRef& ref : task.buffers) {
    if (hostir::writes(ref.access)) sink.value(summary(task, ref, operand++));
  }
  for (const StoredItem& item : task.items) {
    if (item.contribution.out.allocation.valid()) {
      sink.value(summary(task, item.contribution.out, operand++));
    }
  }
}

interp::ValueSummary SimBackend::summary(const StoredTask& task, const BufferRef& ref,
                                         uint16_t operand) {
  const Placement* placement = ref.after != nullptr ? ref.after : ref.placement;
  const Rank rank = interp::task_rank(task.id);
  interp::ValueSummary out;
  out.task = task.id;
  out.rank = rank;
  out.allocation = ref.allocation;
  out.operand = operand;
  if (placement == nullptr) return out;
  const ChunkRef chunk = state_.memory.chunk(rank, ref);
  const bool whole = ref.offset_bytes == 0 && placement->local_bytes() == chunk->size_bytes();
  std::vector<std::byte> dense;
  const std::byte* data = chunk->data() + ref.offset_bytes;
  if (!is_dense(ref, *placement)) {
    dense.resize(static_cast<size_t>(placement->local_bytes()));
    gather(ref, *placement, placement->box, data, dense.data());
    data = dense.data();
  }
  out.digest = dense.empty() && whole
                   ? chunk->digest()
                   : hash_of({data, static_cast<size_t>(placement->local_bytes())});
  if (value_mode_ == ValueMode::kStats) {
    add_stats(placement->dtype, data, placement->box.volume(), out);
  } else {
    interp::count_not_finite(placement->dtype, data, placement->box.volume(), out);
  }
  return out;
}

}  // namespace hostir::sim
