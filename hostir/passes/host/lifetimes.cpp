#include "hostir/passes/host/lifetimes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/members.h"
#include "hostir/passes/host/stream_order.h"
#include "hostir/passes/redistribute/shard_parts.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

// The last use of a buffer on one stream.
struct LastUse {
  StreamPoint point;
  size_t at = 0;  // index of the task in the body
};

struct Buffer {
  ValueId value;
  size_t born = 0;  // index of the alloc in the body
  size_t last_use = 0;
  std::map<std::pair<uint32_t, uint32_t>, LastUse> uses = {};  // by stream and set of ranks
  std::optional<size_t> free_after = {};  // index in the body; none: free at the end
  ValueId free_on = {};
  bool handed_on = false;
};

// Bytes of the buffer on each rank of the host function's mesh; empty if a size is unknown.
std::vector<int64_t> bytes_by_rank(const Program& program, const Mesh& world, const Type& type) {
  const auto* shard = std::get_if<ShardType>(&type);
  const auto extents = shard != nullptr ? constant_extents(shard->shape) : std::nullopt;
  const Mesh* mesh = extents ? program.find_mesh(shard->sharding->mesh) : nullptr;
  std::vector<int64_t> out;
  if (mesh == nullptr) return out;
  // A value without dimensions also has bytes on ranks outside its mesh.
  if (extents->empty()) mesh = &world;
  const ShardParts parts(*mesh, *shard->sharding, *extents);
  for (size_t p = 0; p < static_cast<size_t>(mesh->size()); ++p) {
    const auto rank = static_cast<size_t>(mesh->rank_at(static_cast<int64_t>(p)));
    if (out.size() <= rank) out.resize(rank + 1, 0);
    out[rank] = parts.volume(p) * size_bytes(shard->dtype);
  }
  return out;
}

// Buffers in one class can reuse each other's storage: they have the same number of bytes on each
// rank or, if sizes are unknown, the same type.
class StorageClasses {
 public:
  StorageClasses(const Program& program, const Function& host)
      : program_(program), world_(*program.find_mesh(host.mesh)) {}

  // The class number of a type.
  size_t of(const Type& type) {
    const auto [known, is_new] = by_type_.try_emplace(to_string(type), by_type_.size());
    if (!is_new) return known->second;
    std::vector<int64_t> bytes = bytes_by_rank(program_, world_, type);
    if (!bytes.empty()) {
      known->second = by_bytes_.try_emplace(std::move(bytes), known->second).first->second;
    }
    return known->second;
  }

 private:
  const Program& program_;
  const Mesh& world_;
  std::map<std::vector<int64_t>, size_t> by_bytes_;
  std::unordered_map<std::string, size_t> by_type_;  // by its text: bytes on 1,024 ranks take long
};

class Lifetimes {
 public:
  Lifetimes(const Program& program, const Function& host)
      : in_(host),
        body_(host.region(host.body).instructions),
        classes_(program, host),
        memory_(buffers_behind(host)),
        members_(program, host),
        buffer_of_(host.values.size(), kNoBuffer),
        order_(members_.classes()) {}

  Function run() {
    find_buffers();
    walk();
    return build();
  }

 private:
  static constexpr size_t kNoBuffer = static_cast<size_t>(-1);

  void find_buffers() {
    std::set<uint32_t> returned;
    for (const Operand& o : in_.instr(body_.back()).operands)
      returned.insert(memory_[o.value.index].index);
    for (size_t at = 0; at < body_.size(); ++at) {
      const Instruction& i = in_.instr(body_[at]);
      if (i.kind != OpKind::alloc || returned.count(i.results.front().index) != 0) continue;
      buffer_of_[i.results.front().index] = buffers_.size();
      buffers_.push_back({.value = i.results.front(), .born = at, .last_use = at});
    }
    for (size_t at = 0; at < body_.size(); ++at) {
      for (const BufferUse& use : buffer_uses(in_, in_.instr(body_[at]), memory_)) {
        if (Buffer* b = find(use.buffer)) b->last_use = at;
      }
    }
  }

  Buffer* find(ValueId value) {
    const size_t index = value.valid() ? buffer_of_[value.index] : kNoBuffer;
    return index == kNoBuffer ? nullptr : &buffers_[index];
  }

  bool all_known(ValueId stream, const Buffer& b) const {
    return std::all_of(b.uses.begin(), b.uses.end(),
                       [&](const auto& use) { return order_.knows(stream, use.second.point); });
  }

  // Walks the body in program order and tracks which tasks each stream knows to be complete.
  void walk() {
    std::map<uint32_t, StreamPoint> point_of_event;
    for (size_t at = 0; at < body_.size(); ++at) {
      const Instruction& i = in_.instr(body_[at]);
      if (i.kind == OpKind::alloc) take_over(i, at);
      if (i.kind == OpKind::stream) streams_.push_back(i.results.front());
      last_stream_.push_back(task_stream(in_, i));
      if (i.kind == OpKind::wait) {
        const ValueId stream = slot_value(i, "stream");
        const auto point = point_of_event.find(slot_value(i, "event").index);
        if (stream.valid() && point != point_of_event.end()) {
          order_.wait(stream, point->second);
          place_frees(dead_, at);
        }
      }
      if (last_stream_.back().valid()) issue(i, at, point_of_event);
      // After this, only a wait can make a stream know that the uses of a dead buffer are complete.
      std::vector<size_t> dead;
      for (const BufferUse& use : buffer_uses(in_, i, memory_)) {
        const Buffer* b = find(use.buffer);
        if (b == nullptr || b->last_use != at) continue;
        const size_t index = buffer_of_[use.buffer.index];
        add_once(dead, index);
      }
      place_frees(dead, at);
      dead_.insert(dead_.end(), dead.begin(), dead.end());
    }
  }

  void issue(const Instruction& i, size_t at, std::map<uint32_t, StreamPoint>& point_of_event) {
    const ValueId stream = last_stream_.back();
    const StreamPoint point = order_.issue(stream, members_.set(i));
    if (i.results.size() == record(i.kind).results.size()) {
      point_of_event[i.results.back().index] = point;
    }
    for (const BufferUse& use : buffer_uses(in_, i, memory_)) {
      if (Buffer* b = find(use.buffer)) b->uses[{stream.index, point.set}] = {point, at};
    }
  }

  // Frees each of these buffers at `at` if a stream knows its uses to be complete; keeps the rest.
  void place_frees(std::vector<size_t>& dead, size_t at) {
    if (at + 1 >= body_.size()) return;
    std::vector<size_t> still;
    for (const size_t index : dead) {
      if (!place_free(index, at)) still.push_back(index);
    }
    dead = std::move(still);
  }

  bool place_free(size_t index, size_t at) {
    Buffer& b = buffers_[index];
    ValueId on = last_stream_[b.last_use];
    if (!on.valid() || !all_known(on, b)) {
      const auto knowing = std::find_if(streams_.begin(), streams_.end(),
                                        [&](ValueId stream) { return all_known(stream, b); });
      if (knowing == streams_.end()) return false;
      on = *knowing;
    }
    b.free_after = at;
    b.free_on = on;
    frees_[at].insert(index);
    free_[classes_.of(in_.value(b.value).type)].insert(index);
    return true;
  }

  // Gives the alloc the storage of the first free buffer in its class whose uses its stream knows
  // to be complete. This includes allocs of returned buffers.
  void take_over(const Instruction& alloc, size_t at) {
    const ValueId stream = task_stream(in_, alloc);
    std::set<size_t>& free = free_[classes_.of(in_.value(alloc.results.front()).type)];
    for (const size_t index : free) {
      if (!all_known(stream, buffers_[index])) continue;
      buffers_[index].handed_on = true;
      storage_[at] = buffers_[index].value;
      free.erase(index);
      return;
    }
  }

  Function build() {
    Function out = with_empty_body(in_);
    std::map<uint32_t, InstrId> definition;
    for (size_t at = 0; at < body_.size(); ++at) {
      Instruction i = with_regions_in(out, in_, in_.instr(body_[at]));
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
      const auto frees = frees_.find(at);
      if (frees == frees_.end()) continue;
      for (const size_t index : frees->second) {
        const Buffer& b = buffers_[index];
        if (!b.handed_on) add_free(out, b.value, b.free_on);
      }
    }
    return compacted(std::move(out));
  }

  static void add_free(Function& out, ValueId buffer, ValueId stream) {
    out.add_instruction(out.body,
                        host_instruction(OpKind::free, {{"buffer", buffer}, {"stream", stream}}));
  }

  void free_at_end(Function& out) {
    UniqueNames names(out);
    for (const Buffer& b : buffers_) {
      if (b.handed_on || b.free_after) continue;
      const ValueId own = last_stream_[b.last_use];
      std::map<size_t, StreamPoint> others;  // by index in the body
      for (const auto& [stream, use] : b.uses) {
        if (use.point.stream != own) others.emplace(use.at, use.point);
      }
      for (const auto& [at, point] : others) {
        if (order_.knows(own, point)) continue;
        const ValueId event = event_of(out, names, new_id_[at], "e");
        out.add_instruction(out.body,
                            host_instruction(OpKind::wait, {{"event", event}, {"stream", own}}));
        order_.wait(own, point);
      }
      add_free(out, b.value, own);
    }
  }

  const Function& in_;
  const std::vector<InstrId>& body_;
  StorageClasses classes_;
  std::vector<ValueId> memory_;  // by value
  Members members_;
  std::vector<size_t> buffer_of_;  // by value: index in buffers_
  std::vector<Buffer> buffers_;
  std::vector<size_t> dead_;                  // past their last use, not freed yet
  std::map<size_t, std::set<size_t>> frees_;  // index in the body -> buffers freed after it
  std::map<size_t, std::set<size_t>> free_;   // storage class -> reusable buffers
  StreamOrder order_;                         // state at the current place in walk()
  std::vector<ValueId> streams_;              // in order of declaration
  std::vector<ValueId> last_stream_;          // by index in the body: the task's stream, or invalid
  std::map<size_t, ValueId> storage_;         // alloc -> the buffer it takes over
  std::vector<InstrId> new_id_;
};

}  // namespace

Function assign_lifetimes(const Program& program, const Function& host) {
  return Lifetimes(program, host).run();
}

}  // namespace hostir
