#include "hostir/passes/lifetimes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "hostir/passes/compact.h"
#include "hostir/passes/host_builder.h"
#include "hostir/passes/stream_order.h"

namespace hostir {

namespace {

struct Buffer {
  ValueId value;
  size_t born = 0;  // index of its alloc in the body
  size_t last_use = 0;
  std::map<uint32_t, StreamPoint> uses;  // the last on each stream
  std::optional<size_t> free_after;      // index in the body; none: at the end
  ValueId free_on;
  bool handed_on = false;
};

// Bytes of the buffer on each position; empty where a size is not known.
std::vector<int64_t> bytes_by_position(const Program& program, const Type& type) {
  const auto* shard = std::get_if<ShardType>(&type);
  const auto extents = shard != nullptr ? constant_extents(shard->shape) : std::nullopt;
  const Mesh* mesh = extents ? program.find_mesh(shard->sharding.mesh) : nullptr;
  std::vector<int64_t> out;
  if (mesh == nullptr) return out;
  for (const Box& box : shard_boxes(*mesh, shard->sharding, *extents)) {
    out.push_back(box.volume() * size_bytes(shard->dtype));
  }
  return out;
}

bool same_bytes(const Program& program, const Type& a, const Type& b) {
  if (a == b) return true;
  const std::vector<int64_t> x = bytes_by_position(program, a);
  return !x.empty() && x == bytes_by_position(program, b);
}

class Lifetimes {
 public:
  Lifetimes(const Program& program, const Function& host)
      : program_(program), in_(host), body_(host.region(host.body).instructions) {}

  Function run() {
    find_buffers();
    walk();
    hand_on();
    return build();
  }

 private:
  void find_buffers() {
    std::set<uint32_t> returned;
    for (const Operand& o : in_.instr(body_.back()).operands) returned.insert(o.value.index);
    for (size_t at = 0; at < body_.size(); ++at) {
      const Instruction& i = in_.instr(body_[at]);
      if (i.kind != OpKind::alloc || returned.count(i.results.front().index) != 0) continue;
      buffers_.push_back({.value = i.results.front(), .born = at, .last_use = at});
    }
    for (size_t at = 0; at < body_.size(); ++at) {
      for (const BufferUse& use : buffer_uses(in_.instr(body_[at]))) {
        if (Buffer* b = find(use.buffer)) b->last_use = at;
      }
    }
  }

  Buffer* find(ValueId value) {
    for (Buffer& b : buffers_) {
      if (b.value == value) return &b;
    }
    return nullptr;
  }

  static bool all_known(const StreamOrder& order, ValueId stream, const Buffer& b) {
    return std::all_of(b.uses.begin(), b.uses.end(),
                       [&](const auto& use) { return order.knows(stream, use.second); });
  }

  // Program order, remembering at each place what the streams know.
  void walk() {
    StreamOrder order;
    std::map<uint32_t, StreamPoint> point_of_event;
    std::vector<ValueId> streams;
    for (size_t at = 0; at < body_.size(); ++at) {
      before_.push_back(order);
      const Instruction& i = in_.instr(body_[at]);
      if (i.kind == OpKind::stream) streams.push_back(i.results.front());
      if (i.kind == OpKind::wait) {
        const ValueId stream = slot_value(i, "stream");
        const auto point = point_of_event.find(slot_value(i, "event").index);
        if (stream.valid() && point != point_of_event.end()) order.wait(stream, point->second);
      }
      const ValueId stream = task_stream(i);
      if (stream.valid()) {
        const StreamPoint point = order.issue(stream);
        if (i.results.size() == record(i.kind).results.size()) {
          point_of_event[i.results.back().index] = point;
        }
        for (const BufferUse& use : buffer_uses(i)) {
          if (Buffer* b = find(use.buffer)) b->uses[stream.index] = point;
        }
        if (last_stream_.size() <= at) last_stream_.resize(at + 1);
        last_stream_[at] = stream;
      }
      last_stream_.resize(at + 1);
      for (Buffer& b : buffers_) place_free(b, at, order, streams);
    }
  }

  void place_free(Buffer& b, size_t at, const StreamOrder& order,
                  const std::vector<ValueId>& streams) {
    if (b.free_after || at < b.last_use || at + 1 >= body_.size()) return;
    const ValueId own = last_stream_[b.last_use];
    if (own.valid() && all_known(order, own, b)) {
      b.free_after = at;
      b.free_on = own;
      return;
    }
    for (const ValueId stream : streams) {
      if (!all_known(order, stream, b)) continue;
      b.free_after = at;
      b.free_on = stream;
      return;
    }
  }

  void hand_on() {
    for (const Buffer& taker : buffers_and_returned()) {
      const ValueId stream = task_stream(in_.instr(body_[taker.born]));
      for (Buffer& giver : buffers_) {
        if (giver.handed_on || !giver.free_after || *giver.free_after >= taker.born) continue;
        if (!all_known(before_[taker.born], stream, giver)) continue;
        if (!same_bytes(program_, in_.value(giver.value).type, in_.value(taker.value).type)) {
          continue;
        }
        giver.handed_on = true;
        storage_[taker.born] = giver.value;
        break;
      }
    }
  }

  // All allocs in order: returned buffers may take over storage, too.
  std::vector<Buffer> buffers_and_returned() const {
    std::vector<Buffer> out;
    for (size_t at = 0; at < body_.size(); ++at) {
      const Instruction& i = in_.instr(body_[at]);
      if (i.kind == OpKind::alloc) out.push_back({.value = i.results.front(), .born = at});
    }
    return out;
  }

  Function build() {
    Function out = in_;
    out.instructions.clear();
    out.regions.clear();
    out.body = out.add_region();
    out.region(out.body).closing_comments = in_.region(in_.body).closing_comments;
    std::map<uint32_t, InstrId> definition;
    for (size_t at = 0; at < body_.size(); ++at) {
      Instruction i = in_.instr(body_[at]);
      if (at + 1 == body_.size()) free_at_end(out);
      const auto storage = storage_.find(at);
      if (storage != storage_.end()) {
        Operand o;
        o.value = storage->second;
        o.slot = slot_index(i.kind, "storage");
        o.access = record(i.kind).operands[o.slot].access;
        i.operands.push_back(std::move(o));
      }
      const InstrId added = out.add_instruction(out.body, std::move(i));
      new_id_.push_back(added);
      for (const Buffer& b : buffers_) {
        if (!b.handed_on && b.free_after == at) add_free(out, b.value, b.free_on);
      }
    }
    return compacted(out);
  }

  static void add_free(Function& out, ValueId buffer, ValueId stream) {
    out.add_instruction(out.body,
                        host_instruction(OpKind::free, {{"buffer", buffer}, {"stream", stream}}));
  }

  void free_at_end(Function& out) {
    StreamOrder order = before_.back();
    for (const Buffer& b : buffers_) {
      if (b.handed_on || b.free_after) continue;
      const ValueId own = last_stream_[b.last_use];
      for (size_t at = b.born; at <= b.last_use; ++at) {
        const ValueId stream = last_stream_[at];
        if (!stream.valid() || stream == own) continue;
        const auto uses = buffer_uses(in_.instr(body_[at]));
        const bool is_last = std::any_of(uses.begin(), uses.end(), [&](const BufferUse& u) {
          return u.buffer == b.value && b.uses.at(stream.index) == points_at(at);
        });
        if (!is_last || order.knows(own, points_at(at))) continue;
        const ValueId event = event_of(out, new_id_[at], "e");
        out.add_instruction(out.body,
                            host_instruction(OpKind::wait, {{"event", event}, {"stream", own}}));
        order.wait(own, points_at(at));
      }
      add_free(out, b.value, own);
    }
  }

  // The point of the task at this place of the body.
  StreamPoint points_at(size_t at) const {
    uint32_t task = 0;
    for (size_t i = 0; i <= at; ++i) task += last_stream_[i] == last_stream_[at];
    return {last_stream_[at], task};
  }

  const Program& program_;
  const Function& in_;
  const std::vector<InstrId>& body_;
  std::vector<Buffer> buffers_;
  std::vector<StreamOrder> before_;    // by place in the body
  std::vector<ValueId> last_stream_;   // by place: the task's stream, or invalid
  std::map<size_t, ValueId> storage_;  // alloc -> the buffer it takes over
  std::vector<InstrId> new_id_;
};

}  // namespace

Function assign_lifetimes(const Program& program, const Function& host) {
  return Lifetimes(program, host).run();
}

}  // namespace hostir
