#include "hostir/passes/pipeline/emit_rank.h"

#include <algorithm>
#include <set>

#include "hostir/passes/host/host_builder.h"

namespace hostir::pipeline {

namespace {

class RankEmitter {
 public:
  RankEmitter(PipelineHost& to, const RankOps& rank, RegionId region)
      : to_(to), rank_(rank), region_(region) {
    values_.resize(rank.buffers.size());
    exchanged_.resize(rank.buffers.size());
    for (size_t b = 0; b < rank.buffers.size(); ++b) {
      if (rank.buffers[b].parameter) values_[b] = to.parameters.at(*rank.buffers[b].parameter);
      if (rank.buffers[b].result) values_[b] = to.results[*rank.buffers[b].result];
    }
  }

  void run() {
    for (size_t n = 0; n < rank_.ops.size(); ++n) {
      const RankOp& op = rank_.ops[n];
      switch (op.kind) {
        case RankOp::Kind::kView:
          view(op);
          break;
        case RankOp::Kind::kCall:
          call(op);
          break;
        case RankOp::Kind::kExchange:
          exchange(op);
          break;
        case RankOp::Kind::kAdd:
          add(op);
          break;
        case RankOp::Kind::kReduce:
          reduce(op);
          break;
      }
      free_after(op, n);
    }
  }

 private:
  Function& host() { return to_.host; }

  InstrId append(Instruction i) { return host().add_instruction(region_, std::move(i)); }

  ValueId new_value(BufferIndex b, const std::string& suffix = {}) {
    values_[b] =
        host().add_value(to_.names.fresh(rank_.buffers[b].name + suffix), rank_.buffers[b].type);
    return values_[b];
  }

  // One micro-batch of a parameter: a view without the leading dimension.
  void view(const RankOp& op) {
    const BufferIndex made = op.makes[0];
    ShardType slice = rank_.buffers[made].type;
    slice.shape.insert(slice.shape.begin(), IndexExpr(1));
    slice.sharding->dims.insert(slice.sharding->dims.begin(), DimSharding{});
    Attributes box;
    ExprList starts(slice.shape.size(), IndexExpr(0));
    ExprList limits(slice.shape.size(), IndexExpr(-1));
    starts[0] = IndexExpr(op.action.micro_batch);
    limits[0] = IndexExpr(op.action.micro_batch + 1);
    box.set("starts", starts);
    box.set("limits", limits);
    Instruction i = host_instruction(OpKind::subview, {{"buffer", values_[op.reads[0]]}}, box);
    const ValueId one =
        host().add_value(to_.names.fresh(rank_.buffers[made].name + ".slice"), slice);
    i.results = {one};
    append(std::move(i));
    Instruction drop = host_instruction(OpKind::reinterpret, {{"buffer", one}});
    drop.results = {new_value(made)};
    append(std::move(drop));
  }

  void wait(ValueId event, ValueId stream) {
    append(host_instruction(OpKind::wait, {{"event", event}, {"stream", stream}}));
  }

  // Makes the compute stream wait for the exchange that uses the buffer.
  void await(BufferIndex b) {
    const InstrId group = exchanged_[b];
    if (!group.valid() || !awaited_.insert(group).second) return;
    const ValueId event = event_of(host(), to_.names, group, "exchanged");
    wait(event, to_.compute);
    if (to_.collective.valid()) wait(event, to_.collective);
  }

  void call(const RankOp& op) {
    std::vector<SlotUse> arguments;
    for (const BufferIndex b : op.reads) {
      await(b);
      arguments.push_back({"arguments", values_[b]});
    }
    Attributes attributes;
    attributes.set("callee", Symbol{op.phase->host});
    attributes.set("label", to_string(op.action));
    Instruction i = host_instruction(OpKind::call, std::move(arguments), std::move(attributes));
    for (const BufferIndex b : op.makes) i.results.push_back(new_value(b));
    append(std::move(i));
  }

  void exchange(const RankOp& op) {
    if (op.at_end) await_results();
    for (const Message& m : op.receives) {
      if (rank_.buffers[m.buffer].result) continue;
      Instruction alloc = host_instruction(OpKind::alloc, {{"stream", to_.p2p}});
      alloc.results = {new_value(m.buffer)};
      append(std::move(alloc));
    }
    Instruction group;
    group.kind = OpKind::group;
    const RegionId inner = host().add_region();
    for (const Message& m : op.sends) transfer(inner, OpKind::send, "input", m);
    for (const Message& m : op.receives) transfer(inner, OpKind::recv, "output", m);
    group.regions = {inner};
    const InstrId added = append(std::move(group));
    for (const Message& m : op.sends) exchanged_[m.buffer] = added;
    for (const Message& m : op.receives) exchanged_[m.buffer] = added;
  }

  // Makes "p2p" wait for the sums in the results.
  void await_results() {
    if (added_.valid()) wait(event_of(host(), to_.names, added_, "added"), to_.p2p);
    if (reduced_.valid()) wait(event_of(host(), to_.names, reduced_, "reduced"), to_.p2p);
  }

  void transfer(RegionId region, OpKind kind, std::string_view slot, const Message& m) {
    Attributes peer;
    peer.set("peer", IndexExpr(m.peer));
    host().add_instruction(
        region,
        host_instruction(kind, {{"comm", to_.comm}, {slot, values_[m.buffer]}, {"stream", to_.p2p}},
                         std::move(peer)));
  }

  void add(const RankOp& op) {
    const BufferIndex b = op.reads[0];
    const ValueId sum = to_.results[op.result];
    if (op.whole) await_all(b);
    Attributes kernel;
    kernel.set("kernel", Symbol{to_.add_kernel(rank_.buffers[b].type, op.first, op.whole)});
    added_ = append(host_instruction(
        OpKind::launch,
        {{"reads", values_[b]}, {op.first ? "writes" : "updates", sum}, {"stream", to_.compute}},
        std::move(kernel)));
  }

  // Before a sum of gradients that are complete, which may come from another rank.
  void await_all(BufferIndex b) {
    await(b);
    if (reduced_.valid() && !is_reduction_known_) {
      wait(event_of(host(), to_.names, reduced_, "reduced"), to_.compute);
      is_reduction_known_ = true;
    }
  }

  // Reduces sums in place, those over the same axes in one call.
  void reduce(const RankOp& op) {
    wait(event_of(host(), to_.names, added_, "added"), to_.collective);
    std::map<std::string, std::vector<size_t>> by_axes;
    for (const size_t r : op.results) by_axes[axes_of(r)].push_back(r);
    for (const auto& [axes, results] : by_axes) {
      Instruction group;
      group.kind = OpKind::group;
      const RegionId inner = results.size() > 1 ? host().add_region() : region_;
      for (const size_t r : results) {
        Attributes sum;
        sum.set("reduction", Reduction::kSum);
        reduced_ = host().add_instruction(
            inner, host_instruction(OpKind::all_reduce,
                                    {{"comm", to_.sums.at(axes)},
                                     {"buffer", to_.results[r], to_.reduced[r]},
                                     {"stream", to_.collective}},
                                    std::move(sum)));
      }
      if (results.size() == 1) continue;
      group.regions = {inner};
      reduced_ = append(std::move(group));
    }
    is_reduction_known_ = false;
  }

  std::string axes_of(size_t result) {
    return axes_to_string(sharding_of(host().value(to_.results[result]).type)->unreduced);
  }

  // If the last use of a buffer is an exchange, frees it on "p2p", which knows that all uses are
  // complete.
  void free_after(const RankOp& op, size_t n) {
    std::vector<BufferIndex> used = op.reads;
    used.insert(used.end(), op.makes.begin(), op.makes.end());
    for (const Message& m : op.sends) used.push_back(m.buffer);
    for (const Message& m : op.receives) used.push_back(m.buffer);
    for (size_t u = 0; u < used.size(); ++u) {
      const RankBuffer& buffer = rank_.buffers[used[u]];
      const bool again = std::find(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(u),
                                   used[u]) != used.begin() + static_cast<std::ptrdiff_t>(u);
      if (!buffer.owned || buffer.last_use != n || again) continue;
      const bool sent = op.kind == RankOp::Kind::kExchange;
      if (!sent) await(used[u]);
      append(host_instruction(
          OpKind::free, {{"buffer", values_[used[u]]}, {"stream", sent ? to_.p2p : to_.compute}}));
    }
  }

  PipelineHost& to_;
  const RankOps& rank_;
  RegionId region_;
  std::vector<ValueId> values_;     // by buffer
  std::vector<InstrId> exchanged_;  // by buffer: the exchange it is in
  InstrId added_;                   // the last addition to a sum
  InstrId reduced_;                 // the last reduction of sums
  bool is_reduction_known_ = true;  // compute has waited for it
  std::set<InstrId> awaited_;       // exchanges that compute has waited for
};

}  // namespace

void emit_rank(PipelineHost& to, const RankOps& rank, RegionId region) {
  RankEmitter(to, rank, region).run();
}

}  // namespace hostir::pipeline
