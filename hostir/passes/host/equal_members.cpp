#include "hostir/passes/host/equal_members.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/stream_order.h"

namespace hostir {

namespace {

class EqualMembers {
 public:
  explicit EqualMembers(Function host)
      : in_(std::move(host)),
        memory_(buffers_behind(in_)),
        content_(in_.values.size()),
        uses_(in_.values.size()) {}

  Function run() && {
    note_uses();
    for (const InstrId id : in_.region(in_.body).instructions) {
      if (in_.instr(id).kind == OpKind::launch) note_content(id);
      if (in_.instr(id).kind == OpKind::group) find_equal(in_.instr(id));
    }
    if (instead_.empty()) return std::move(in_);
    for (Instruction& i : in_.instructions) {
      for (Operand& o : i.operands) {
        const auto kept = instead_.find(o.value);
        if (kept != instead_.end()) o.value = kept->second;
      }
    }
    for (Region& region : in_.regions) {
      std::erase_if(region.instructions, [&](InstrId id) { return left_out_.contains(id); });
    }
    for (InstrId& id : in_.regions[in_.body.index].instructions) {
      const Instruction& i = in_.instr(id);
      if (i.kind != OpKind::group) continue;
      const std::vector<InstrId>& members = in_.region(i.regions.front()).instructions;
      if (members.size() == 1) id = members.front();
    }
    return compacted(std::move(in_));
  }

 private:
  struct Uses {
    int writes = 0;
    int reads = 0;
    bool is_named = false;  // by a view or the return, so it stays
  };

  void note_uses() {
    for (const Instruction& i : in_.instructions) {
      if (i.kind == OpKind::group) continue;  // its members are instructions too
      for (const BufferUse& use : buffer_uses(in_, i, memory_)) {
        Uses& uses = uses_[use.buffer.index];
        if (i.kind != OpKind::alloc) ++(use.access == Access::kRead ? uses.reads : uses.writes);
      }
      if (i.kind != OpKind::return_) continue;
      for (const Operand& o : i.operands) uses_[memory_[o.value.index].index].is_named = true;
    }
    for (size_t v = 0; v < memory_.size(); ++v) {
      if (memory_[v] != ValueId(v)) uses_[memory_[v].index].is_named = true;
    }
  }

  // Says what a buffer holds: equal for parameters and what a kernel makes of equal operands.
  // Empty if the buffer is written more than once.
  std::string content_of(ValueId buffer) const {
    const int writes = uses_[buffer.index].writes;
    if (!in_.value(buffer).defined_by.valid()) return writes == 0 ? number(buffer) : "";
    return writes == 1 ? content_[buffer.index] : "";
  }
  static std::string number(ValueId value) { return std::to_string(value.index); }

  void note_content(InstrId id) {
    const Instruction& launch = in_.instr(id);
    std::string key = launch.attributes.get<Symbol>("kernel")->name;
    std::vector<ValueId> written;
    for (const Operand& o : launch.operands) {
      if (!o.value.valid() || o.access == Access::kUse) continue;
      if (o.access == Access::kWrite) {
        written.push_back(o.value);
        continue;
      }
      const std::string content = content_of(o.value);
      if (o.access != Access::kRead || content.empty()) return;
      key += " " + content;
    }
    if (written.size() == 1) made_alone_.emplace(written.front(), id);
    for (size_t w = 0; w < written.size(); ++w) {
      const auto known = made_.emplace(key + " " + std::to_string(w), written[w]).first;
      content_[written[w].index] = number(known->second);
    }
  }

  bool is_made_once(ValueId buffer) const {
    const Uses& uses = uses_[buffer.index];
    return in_.value(buffer).defined_by.valid() && uses.writes == 1 && !uses.is_named;
  }

  void find_equal(const Instruction& group) {
    std::map<std::string, const Instruction*> seen;
    for (const InstrId id : in_.region(group.regions.front()).instructions) {
      const Instruction& i = in_.instr(id);
      const ValueId input = slot_value(i, "input");
      const ValueId output = slot_value(i, "output");
      const std::string content = input.valid() ? content_of(input) : "";
      if (content.empty() || !output.valid() || !is_made_once(output)) continue;
      const auto [first, is_new] = seen.emplace(
          fmt::format("{} {} {}", static_cast<int>(i.kind), slot_value(i, "comm").index, content),
          &i);
      const ValueId kept = slot_value(*first->second, "output");
      if (is_new || !(first->second->attributes == i.attributes) ||
          !(in_.value(kept).type == in_.value(output).type))
        continue;
      instead_.emplace(output, kept);
      left_out_.insert({id, in_.value(output).defined_by});
      const auto launch = made_alone_.find(input);
      if (--uses_[input.index].reads > 0 || !is_made_once(input) || launch == made_alone_.end())
        continue;
      left_out_.insert({launch->second, in_.value(input).defined_by});
    }
  }

  Function in_;
  const std::vector<ValueId> memory_;      // by value: the buffer that it is a view of
  std::vector<std::string> content_;       // by value
  std::vector<Uses> uses_;                 // by value
  std::map<std::string, ValueId> made_;    // by kernel, what it read, and result
  std::map<ValueId, InstrId> made_alone_;  // by buffer: the launch that writes nothing else
  std::map<ValueId, ValueId> instead_;     // outputs of members that are left out
  std::set<InstrId> left_out_;
};

}  // namespace

Function without_equal_members(Function host) { return EqualMembers(std::move(host)).run(); }

}  // namespace hostir
