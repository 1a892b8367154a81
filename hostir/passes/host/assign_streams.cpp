#include "hostir/passes/host/assign_streams.h"

#include <algorithm>
#include <map>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/members.h"
#include "hostir/passes/host/stream_order.h"

namespace hostir {

namespace {

bool communicates(const Instruction& i) {
  const OpRecord& op = record(i.kind);
  return op.op_class == OpClass::kCommunication || op.role == HostRole::kGroup;
}

struct Task {
  StreamPoint point;
  InstrId instruction;  // in the new function
};

// The last writers of a buffer on different ranks, and its readers since then.
struct History {
  std::vector<Task> writers;
  std::vector<Task> readers;
};

class StreamAssigner {
 public:
  StreamAssigner(const Program& program, const Function& host)
      : in_(host),
        names_(host),
        memory_(buffers_behind(host)),
        members_(program, in_),
        order_(members_.classes()) {
    out_ = with_empty_body(host);
  }

  Function run() {
    const auto& body = in_.region(in_.body).instructions;
    const bool any = std::any_of(body.begin(), body.end(),
                                 [&](InstrId id) { return communicates(in_.instr(id)); });
    if (!any) return in_;
    find_first_users();
    for (const InstrId id : body) add(in_.instr(id));
    return compacted(std::move(out_));
  }

 private:
  void add(const Instruction& original) {
    const std::vector<BufferUse> uses = buffer_uses(in_, original, memory_);
    const uint32_t set = members_.set(original);
    Instruction i = with_regions_in(out_, in_, original);
    if (i.kind == OpKind::stream && !comm_stream_.valid()) {
      out_.add_instruction(out_.body, i);
      add_comm_stream();
      return;
    }
    if (communicates(i) || (i.kind == OpKind::alloc && filled_by_communication(i))) {
      move_to_comm_stream(i);
    }
    const ValueId stream = task_stream(out_, i);
    if (!stream.valid()) {
      out_.add_instruction(out_.body, std::move(i));
      return;
    }
    for (const BufferUse& use : uses) order_after(stream, use);
    const InstrId added = out_.add_instruction(out_.body, std::move(i));
    const Task task{order_.issue(stream, set), added};
    for (const BufferUse& use : uses) remember(use, task);
  }

  void move_to_comm_stream(Instruction& i) {
    for (Operand& o : i.operands) {
      if (o.slot == slot_index(i.kind, "stream")) o.value = comm_stream_;
    }
    for (const RegionId region : i.regions) {
      for (const InstrId id : out_.region(region).instructions) move_to_comm_stream(out_.instr(id));
    }
  }

  void add_comm_stream() {
    comm_stream_ = out_.add_value(names_.fresh("n"), StreamType{});
    Attributes name;
    name.set("name", std::string("comm"));
    Instruction i = host_instruction(OpKind::stream, {}, std::move(name));
    i.results = {comm_stream_};
    out_.add_instruction(out_.body, std::move(i));
  }

  void find_first_users() {
    first_user_.resize(in_.values.size());
    for (const InstrId id : in_.region(in_.body).instructions) {
      for (const Instruction* member : members_of(in_, in_.instr(id))) {
        for (const Operand& o : member->operands) {
          if (o.value.valid() && !first_user_[o.value.index].valid()) {
            first_user_[o.value.index] = id;
          }
        }
      }
    }
  }

  // True if the first instruction that uses the allocated buffer is a communication.
  bool filled_by_communication(const Instruction& alloc) const {
    const InstrId user = first_user_[alloc.results.front().index];
    return user.valid() && communicates(in_.instr(user));
  }

  void order_after(ValueId stream, const BufferUse& use) {
    const auto it = history_.find(use.buffer.index);
    if (it == history_.end()) return;
    const History& h = it->second;
    wait_for(stream, h.writers);
    if (use.access != Access::kRead) wait_for(stream, h.readers);
  }

  // Latest first: waiting for the latest task on a stream covers the earlier ones.
  void wait_for(ValueId stream, const std::vector<Task>& tasks) {
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) wait_for(stream, *task);
  }

  void wait_for(ValueId stream, const Task& task) {
    if (order_.knows(stream, task.point)) return;
    const ValueId event = event_of(out_, names_, task.instruction, "e");
    out_.add_instruction(out_.body,
                         host_instruction(OpKind::wait, {{"event", event}, {"stream", stream}}));
    order_.wait(stream, task.point);
  }

  void remember(const BufferUse& use, const Task& task) {
    History& h = history_[use.buffer.index];
    if (use.access == Access::kRead) {
      h.readers.push_back(task);
    } else {
      drop_known(use.buffer, task, h.writers);
      drop_known(use.buffer, task, h.readers);
      h.writers.push_back(task);
    }
  }

  // Drops the earlier tasks that must be complete once `writer` is. Exception: a value without
  // dimensions also has bytes on ranks outside its mesh, where `writer` may not run.
  void drop_known(ValueId buffer, const Task& writer, std::vector<Task>& tasks) const {
    const bool is_scalar = shape_of(in_.value(buffer).type).empty();
    tasks.erase(std::remove_if(tasks.begin(), tasks.end(),
                               [&](const Task& t) {
                                 return !is_scalar ||
                                        members_.includes(writer.point.set, t.point.set);
                               }),
                tasks.end());
  }

  const Function& in_;
  Function out_;
  UniqueNames names_;
  std::vector<InstrId> first_user_;  // by value; invalid: unused
  ValueId comm_stream_;
  std::vector<ValueId> memory_;  // by value
  Members members_;
  StreamOrder order_;
  std::map<uint32_t, History> history_;
};

}  // namespace

Function assign_streams(const Program& program, const Function& host) {
  return StreamAssigner(program, host).run();
}

}  // namespace hostir
