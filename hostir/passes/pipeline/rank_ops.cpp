#include "hostir/passes/pipeline/rank_ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace hostir::pipeline {

namespace {

class RankPlanner {
 public:
  RankPlanner(const Schedule& schedule, const std::vector<Stage>& stages,
              const std::vector<std::vector<size_t>>& results, int64_t rank)
      : schedule_(schedule), stages_(stages), results_(results), rank_(rank) {}

  RankOps run(const RankSteps& steps, const std::vector<TiedResults>& ties) {
    for (const RankStep& step : steps) {
      if (step.action) {
        act(*step.action);
      } else {
        exchange(step.transfers);
      }
    }
    add_ties(ties);
    find_last_uses();
    return std::move(out_);
  }

 private:
  const Stage& stage(int64_t s) const { return stages_[static_cast<size_t>(s)]; }

  BufferIndex add_buffer(int64_t s, int64_t micro_batch, ValueId value, bool owned) {
    const std::string& name = stage(s).gradient.value(value).name;
    out_.buffers.push_back(
        {fmt::format("s{}.{}.{}", s, name, micro_batch), stage(s).layout(value), owned, 0, {}, {}});
    return out_.buffers.size() - 1;
  }

  // The buffer that holds a value of a stage's gradient for one micro-batch.
  BufferIndex find(const Action& a, ValueId value) {
    const auto key = std::tuple(a.stage, a.micro_batch, value);
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    const auto& parameters = stage(a.stage).parameters;
    const auto at = static_cast<size_t>(std::find(parameters.begin(), parameters.end(), value) -
                                        parameters.begin());
    const bool data = stage(a.stage).roles[at] == Role::kData;
    const BufferIndex whole = parameter(a.stage, at);
    if (!data) return whole;
    const BufferIndex view = add_buffer(a.stage, a.micro_batch, value, false);
    RankOp& op = out_.ops.emplace_back();
    op.kind = RankOp::Kind::kView;
    op.action = a;
    op.reads = {whole};
    op.makes = {view};
    values_[key] = view;
    return view;
  }

  BufferIndex parameter(int64_t s, size_t index) {
    const auto known = parameters_.find({s, index});
    if (known != parameters_.end()) return known->second;
    const BufferIndex made = add_buffer(s, 0, stage(s).parameters[index], false);
    out_.buffers[made].parameter = {s, index};
    parameters_[{s, index}] = made;
    return made;
  }

  void act(const Action& a) {
    const Stage& s = stage(a.stage);
    const Phase& phase = a.work == Work::kForward          ? s.forward
                         : a.work == Work::kBackwardWeight ? *s.weights
                                                           : s.backward;
    if (phase.host.empty()) return;
    RankOp op;
    op.action = a;
    op.phase = &phase;
    for (const ValueId v : phase.arguments) op.reads.push_back(find(a, v));
    for (const ValueId v : phase.results) {
      op.makes.push_back(add_buffer(a.stage, a.micro_batch, v, true));
      values_.try_emplace({a.stage, a.micro_batch, v}, op.makes.back());
    }
    const std::vector<BufferIndex> made = op.makes;
    out_.ops.push_back(std::move(op));
    if (a.work == Work::kForward) {
      hand_on_outputs(a, made);
    } else {
      hand_back_gradients(a, made);
    }
  }

  void hand_on_outputs(const Action& a, const std::vector<BufferIndex>& made) {
    if (a.stage + 1 == schedule_.stages()) {
      add_up(made[0], 0);
      return;
    }
    const std::vector<BufferIndex> outputs(
        made.begin(), made.begin() + static_cast<std::ptrdiff_t>(stage(a.stage).outputs.size()));
    hand_over(a, outputs);
  }

  // The results of a backward phase: gradients of activations, then of weights, if it has any.
  void hand_back_gradients(const Action& a, const std::vector<BufferIndex>& made) {
    const Stage& s = stage(a.stage);
    size_t next = 0;
    std::vector<BufferIndex> back;
    for (size_t p = 0; a.work != Work::kBackwardWeight && p < s.parameters.size(); ++p) {
      if (s.roles[p] == Role::kActivation && s.d_parameters[p].valid())
        back.push_back(made[next++]);
    }
    for (size_t p = 0; a.work != Work::kBackwardInput && p < s.parameters.size(); ++p) {
      if (s.roles[p] != Role::kWeight || !s.d_parameters[p].valid()) continue;
      add_up(made[next++], results_[static_cast<size_t>(a.stage)][p]);
    }
    if (a.work != Work::kBackwardInput) reduce_at_end(a.stage);
    if (a.work != Work::kBackwardWeight && a.stage > 0) hand_over(a, back);
  }

  // The receiving stage, and its own ids of the values that `producer` hands over.
  std::pair<int64_t, std::vector<ValueId>> received(const Action& producer) const {
    std::vector<ValueId> out;
    if (producer.work == Work::kForward) {
      const Stage& next = stage(producer.stage + 1);
      for (size_t p = 0; p < next.parameters.size(); ++p) {
        if (next.roles[p] == Role::kActivation) out.push_back(next.parameters[p]);
      }
      return {producer.stage + 1, out};
    }
    for (const ValueId d : stage(producer.stage - 1).d_outputs) {
      if (d.valid()) out.push_back(d);
    }
    return {producer.stage - 1, out};
  }

  void hand_over(const Action& producer, const std::vector<BufferIndex>& buffers) {
    const auto [to, values] = received(producer);
    if (schedule_.rank_of(to) != rank_) {
      outgoing_[producer] = buffers;
      return;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      values_[{to, producer.micro_batch, values[i]}] = buffers[i];
    }
  }

  void add_up(BufferIndex buffer, size_t result) {
    RankOp& op = out_.ops.emplace_back();
    op.kind = RankOp::Kind::kAdd;
    op.reads = {buffer};
    op.result = result;
    op.first = begun_.insert(result).second;
  }

  // Reduces the partial gradients of the stage's weights after its last micro-batch.
  void reduce_at_end(int64_t s) {
    if (++done_[s] < schedule_.micro_batches) return;
    RankOp op;
    op.kind = RankOp::Kind::kReduce;
    for (size_t p = 0; p < stage(s).parameters.size(); ++p) {
      const size_t result = results_[static_cast<size_t>(s)][p];
      if (result != 0 && stage(s).layout(stage(s).d_parameters[p]).sharding->is_partial())
        op.results.push_back(result);
    }
    if (!op.results.empty()) out_.ops.push_back(std::move(op));
  }

  void exchange(const std::vector<Transfer>& transfers) {
    RankOp op;
    op.kind = RankOp::Kind::kExchange;
    for (const Transfer& t : transfers) {
      if (t.from == rank_) {
        for (const BufferIndex b : outgoing_[t.producer]) op.sends.push_back({b, t.to});
        continue;
      }
      const auto [to, values] = received(t.producer);
      for (const ValueId v : values) {
        const BufferIndex b = add_buffer(to, t.producer.micro_batch, v, true);
        values_[{to, t.producer.micro_batch, v}] = b;
        op.receives.push_back({b, t.from});
      }
    }
    if (!op.sends.empty() || !op.receives.empty()) out_.ops.push_back(std::move(op));
  }

  bool is_here(int64_t s) const { return schedule_.rank_of(s) == rank_; }

  BufferIndex result_buffer(const TiedResults& tie, size_t result) {
    const auto [known, is_new] = result_buffers_.try_emplace(result, out_.buffers.size());
    if (is_new) out_.buffers.push_back({"tied", tie.type, false, 0, {}, result});
    return known->second;
  }

  // The owner of each tied weight gets the gradients of the other stages, adds them in the order of
  // the stages, and sends the sum back. The gradients of all ties travel in one group each way.
  void add_ties(const std::vector<TiedResults>& ties) {
    RankOp gather;
    gather.kind = RankOp::Kind::kExchange;
    gather.at_end = true;
    RankOp back = gather;
    std::vector<RankOp> sums;
    std::vector<RankOp> copies;
    const auto add = [](BufferIndex from, size_t result, bool first) {
      RankOp op;
      op.kind = RankOp::Kind::kAdd;
      op.reads = {from};
      op.result = result;
      op.first = first;
      op.whole = true;
      return op;
    };
    for (const TiedResults& tie : ties) {
      const auto& [owner, sum] = tie.members.front();
      for (size_t m = 1; m < tie.members.size(); ++m) {
        const auto& [other, result] = tie.members[m];
        if (is_here(owner) && is_here(other)) {
          sums.push_back(add(result_buffer(tie, result), sum, false));
          copies.push_back(add(result_buffer(tie, sum), result, true));
        } else if (is_here(owner)) {
          const BufferIndex received = out_.buffers.size();
          out_.buffers.push_back(
              {fmt::format("s{}.tied.{}", other, result), tie.type, true, 0, {}, {}});
          gather.receives.push_back({received, schedule_.rank_of(other)});
          sums.push_back(add(received, sum, false));
          back.sends.push_back({result_buffer(tie, sum), schedule_.rank_of(other)});
        } else if (is_here(other)) {
          gather.sends.push_back({result_buffer(tie, result), schedule_.rank_of(owner)});
          back.receives.push_back({result_buffer(tie, result), schedule_.rank_of(owner)});
        }
      }
    }
    const auto is_empty = [](const RankOp& op) { return op.sends.empty() && op.receives.empty(); };
    if (!is_empty(gather)) out_.ops.push_back(std::move(gather));
    for (RankOp& op : sums) out_.ops.push_back(std::move(op));
    if (!is_empty(back)) out_.ops.push_back(std::move(back));
    for (RankOp& op : copies) out_.ops.push_back(std::move(op));
  }

  void find_last_uses() {
    for (size_t n = 0; n < out_.ops.size(); ++n) {
      const RankOp& op = out_.ops[n];
      const auto use = [&](BufferIndex b) { out_.buffers[b].last_use = n; };
      std::for_each(op.reads.begin(), op.reads.end(), use);
      std::for_each(op.makes.begin(), op.makes.end(), use);
      for (const Message& m : op.sends) use(m.buffer);
      for (const Message& m : op.receives) use(m.buffer);
    }
  }

  const Schedule& schedule_;
  const std::vector<Stage>& stages_;
  const std::vector<std::vector<size_t>>& results_;
  int64_t rank_;
  RankOps out_;
  std::map<std::tuple<int64_t, int64_t, ValueId>, BufferIndex> values_;
  std::map<std::pair<int64_t, size_t>, BufferIndex> parameters_;
  std::map<Action, std::vector<BufferIndex>> outgoing_;
  std::map<size_t, BufferIndex> result_buffers_;
  std::set<size_t> begun_;           // results that hold a sum
  std::map<int64_t, int64_t> done_;  // by stage: micro-batches with all weights' gradients
};

}  // namespace

RankOps plan_rank(const Schedule& schedule, const std::vector<Stage>& stages,
                  const std::vector<std::vector<size_t>>& results,
                  const std::vector<TiedResults>& ties, const RankSteps& steps, int64_t rank) {
  return RankPlanner(schedule, stages, results, rank).run(steps, ties);
}

}  // namespace hostir::pipeline
