#include "hostir/passes/homes/fusion_price.h"

#include <algorithm>
#include <map>
#include <optional>

#include "hostir/passes/host/task_times.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

// Factors by which one price must beat another. See Price::is_worth_more_than, which tries the
// cases in this order. It is not transitive: the winner of several prices depends on the order of
// tries.
//
// 1. A price that takes this many times less time wins, whatever it moves.
constexpr double kMuchCheaper = 1.3;
// 2. A price that moves this many times fewer bytes wins if it takes at most kMayCost as long.
constexpr double kFewerBytes = 1.1;
constexpr double kMayCost = 1.02;
// 3. If the bytes are about the same, shared calls decide where moves take this many times less.
constexpr double kSameBytes = 1.02;
constexpr double kFewerStarts = 1.25;
// 4. Otherwise a home must be this many times cheaper and move no more.
constexpr double kWorthAHome = 1.01;

// Collectives that can share a call, as `combine` makes them do: those of one kind that need not
// wait for each other. Gathers of parameters and reductions of gradients share a few calls, while
// those of activations follow each other.
class SharedStarts {
 public:
  explicit SharedStarts(const Function& fusion) : fusion_(fusion) {}

  /// `steps`: the steps of the reshard `i`.
  void add(const Instruction& i, const std::vector<RedistributeStep>& steps, const StepCost& cost) {
    size_t count = 0;
    for (const RedistributeStep& step : steps) {
      if (step.kind == StepKind::kLocal) continue;
      calls_.push_back({i.results.front(), count++,
                        std::string(name(step.kind)) + axes_to_string(step.axes),
                        cost.start_ns(step)});
    }
    count_[i.results.front().index] = count;
  }

  /// The total time of saved starts. Calls of one kind wait as long as the first of them can, then
  /// start together with all that are ready.
  double saved_ns() const {
    const std::vector<size_t> before = calls_before();
    const std::vector<size_t> after = calls_after();
    size_t all = 0;
    for (size_t v = 0; v < before.size(); ++v) all = std::max(all, before[v] + after[v]);
    struct Interval {
      size_t last;
      size_t first;
      double start_ns;
    };
    std::map<std::string, std::vector<Interval>> kinds;
    for (const Call& c : calls_) {
      const size_t v = c.value.index;
      const size_t behind = count_.at(c.value.index) - c.place;  // with this one
      kinds[c.kind].push_back({all - after[v] - behind, before[v] - behind, c.start_ns});
    }
    double saved = 0;
    for (auto& [kind, intervals] : kinds) {
      std::sort(intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.last < b.last; });
      std::optional<size_t> made;
      for (const Interval& i : intervals) {
        if (made && i.first <= *made)
          saved += i.start_ns;
        else
          made = i.last;
      }
    }
    return saved;
  }

 private:
  struct Call {
    ValueId value;  // result of the reshard
    size_t place;   // position among the reshard's calls
    std::string kind;
    double start_ns;
  };

  size_t calls_of(ValueId v) const {
    const auto found = count_.find(v.index);
    return found == count_.end() ? 0 : found->second;
  }

  // By value: the longest chain of calls that leads to it.
  std::vector<size_t> calls_before() const {
    std::vector<size_t> out(fusion_.values.size(), 0);
    for (const InstrId id : body_of(fusion_)) {
      const Instruction& i = fusion_.instr(id);
      size_t most = 0;
      for (const Operand& o : i.operands) {
        if (o.value.valid()) most = std::max(most, out[o.value.index]);
      }
      for (const ValueId r : i.results) out[r.index] = most + calls_of(r);
    }
    return out;
  }

  // By value: the longest chain of calls that starts from it.
  std::vector<size_t> calls_after() const {
    std::vector<size_t> out(fusion_.values.size(), 0);
    const auto body = body_of(fusion_);
    for (size_t at = body.size(); at-- > 0;) {
      const Instruction& i = fusion_.instr(body[at]);
      size_t most = 0;
      for (const ValueId r : i.results) most = std::max(most, out[r.index] + calls_of(r));
      for (const Operand& o : i.operands) {
        if (o.value.valid()) out[o.value.index] = std::max(out[o.value.index], most);
      }
    }
    return out;
  }

  const Function& fusion_;
  std::vector<Call> calls_;
  std::map<uint32_t, size_t> count_;  // calls by the reshard's result
};

}  // namespace

bool Price::is_worth_more_than(const Price& other) const {
  if (ns * kMuchCheaper < other.ns) return true;
  if (bytes * kFewerBytes < other.bytes)
    return ns < other.ns * kMayCost && shared_ns < other.shared_ns * kMayCost;
  if (bytes <= other.bytes * kSameBytes && moves_ns * kFewerStarts < other.moves_ns)
    return shared_ns < other.shared_ns;
  return bytes <= other.bytes && ns * kWorthAHome < other.ns;
}

double work_ns(const Program& program, const Function& fusion, const Instruction& i,
               MeshMoves& moves) {
  const OpRecord& op = record(i.kind);
  if (op.cost == nullptr) return 0;
  const TensorType& made = tensor_type(fusion, i.results.front());
  const Mesh& mesh = moves.mesh(made.sharding->mesh);
  const auto box = [&](ValueId v) {
    const TensorType& type = tensor_type(fusion, v);
    return largest_box(mesh, type.shape, *type.sharding);
  };
  std::vector<Extents> in;
  std::vector<Extents> results;
  for (const Operand& o : i.operands) in.push_back(box(o.value));
  for (const ValueId r : i.results) results.push_back(box(r));
  const Cost cost = op.cost(BoundCall(program, fusion, i).call, in, results);
  const StepCost& costs = moves.on(mesh.name).cost();
  return costs.kernel_ns(made.dtype, cost.flops, cost.read_bytes + cost.write_bytes);
}

Price price_of(const Program& program, const Function& fusion, MeshMoves& moves) {
  Price out;
  SharedStarts starts(fusion);
  for (const InstrId id : body_of(fusion)) {
    const Instruction& i = fusion.instr(id);
    if (is_terminator(i)) continue;
    const TensorType& made = tensor_type(fusion, i.results.front());
    if (record(i.kind).shape == OpShape::kLayout) {
      const TensorType& from = tensor_type(fusion, i.operands.front().value);
      const Redistribution& plan = moves.plan(made, *from.sharding, *made.sharding);
      out.ns += plan.cost_ns;
      out.moves_ns += plan.cost_ns;
      starts.add(i, plan.steps, moves.on(made.sharding->mesh).cost());
      out.bytes += moves.bytes(made, *from.sharding, plan);
    } else {
      out.ns += work_ns(program, fusion, i, moves);
    }
  }
  const double saved = starts.saved_ns();
  out.shared_ns = out.ns - saved;
  out.moves_ns -= saved;
  return out;
}

}  // namespace hostir
