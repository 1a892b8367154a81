// The cost of a choice of OpChooser: its work, and the later reshards of its results.
#include <algorithm>

#include "hostir/passes/choose/placement_choice.h"
#include "hostir/passes/host/task_times.h"
#include "hostir/passes/meshes/mesh_moves.h"

namespace hostir {

double OpChooser::work_ns(const Instruction& i, const OpChoice& choice) const {
  const OpRecord& op = record(i.kind);
  if (op.cost == nullptr) return 0;
  std::vector<Extents> operands;
  std::vector<Extents> results;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    operands.push_back(
        largest_box(mesh_, tensor_type(source_, i.operands[o].value).shape, choice.operands[o]));
  }
  for (size_t r = 0; r < i.results.size(); ++r) {
    results.push_back(
        largest_box(mesh_, tensor_type(source_, i.results[r]).shape, choice.results[r]));
  }
  const BoundCall bound(program_, source_, i);
  const Cost cost = op.cost(bound.call, operands, results);
  const DType dtype = tensor_type(source_, i.results.front()).dtype;
  return moves_.cost().kernel_ns(dtype, cost.flops, cost.read_bytes + cost.write_bytes);
}

double OpChooser::result_cost(ValueId value, const Sharding& held) const {
  const RequestedSharding& request = requests_[value.index];
  const TensorType& type = tensor_type(source_, value);
  if (request.fixed || request.only_returned) return moves_.cost_ns(type, held, request.sharding);
  if (held.is_partial()) return future_cost(value, held, kLookahead);
  // Open dimensions without axes express no preference.
  const Sharding whole = reduced(request.sharding);
  return whole.is_fully_replicated() ? 0 : moves_.cost_ns(type, held, whole);
}

// The sharding that a result is moved to; nullopt if any will do.
std::optional<Sharding> OpChooser::needed_after(ValueId value) const {
  const RequestedSharding& request = requests_[value.index];
  if (request.fixed || request.only_returned) return request.sharding;
  const Sharding needed = reduced(request.sharding);
  return needed.is_fully_replicated() ? std::nullopt : std::optional(needed);
}

size_t OpChooser::collectives_after(ValueId value, const Sharding& held) const {
  const std::optional<Sharding> needed = needed_after(value);
  if (!needed) return held.is_partial();
  return moves_.plan(tensor_type(source_, value), held, *needed).collectives();
}

double OpChooser::reduce_ns(ValueId value, const Sharding& held) const {
  const Sharding whole = reduced(requests_[value.index].sharding);
  return moves_.cost_ns(tensor_type(source_, value), held, whole);
}

// The cost of reducing `value`, or a lower cost if its only user can keep it partial: then the
// reduce happens later and may be shared with other operands.
double OpChooser::future_cost(ValueId value, const Sharding& held, int depth) const {
  const RequestedSharding& request = requests_[value.index];
  if (request.returned_partial && request.sharding.unreduced == held.unreduced) return 0;
  const double now = reduce_ns(value, held);
  if (depth == 0) return now;
  const Instruction* user = users_.only(source_, value);
  if (user == nullptr || user->results.size() != 1 || record(user->kind).rule == nullptr)
    return now;
  const ValueId next = user->results.front();
  if (requests_[next.index].fixed && !requests_[next.index].sharding.is_partial()) return now;
  const RequestedSharding& wanted = requests_[next.index];
  const bool returned = wanted.returned_partial && wanted.sharding.unreduced == held.unreduced;
  const BoundCall bound(program_, source_, *user);
  double sharers = 0;
  const std::vector<size_t> judged = judged_operands(*user, value);
  for (const size_t o : judged) {
    const ValueId other = user->operands[o].value;
    const PartialUse use = partial_use(bound.call, o, held.unreduced_kind);
    const bool partial = other == value || likely_partial(other, held.unreduced, depth);
    if (other == value && use == PartialUse::kReduceFirst) return now;
    if (use == PartialUse::kOthersWhole && partial && other != value) return now;
    // Whole addends of a partial result become partial without communication.
    if (use == PartialUse::kAllAlike && !partial && !returned) return now;
    if (partial && use != PartialUse::kReduceFirst) sharers += 1;
  }
  sharers *= static_cast<double>(user->operands.size()) / static_cast<double>(judged.size());
  Sharding next_held = requests_[next.index].sharding;
  next_held.unreduced = held.unreduced;
  next_held.unreduced_kind = held.unreduced_kind;
  for (DimSharding& d : next_held.dims) {
    d.axes = prefix_avoiding(mesh_, d.axes, held.unreduced);
  }
  return std::min(now, future_cost(next, canonical(mesh_, next_held), depth - 1) / sharers);
}

// True if `value` is partial over these axes, or will probably be, judging by its definition.
bool OpChooser::likely_partial(ValueId value, const AxisList& axes, int depth) const {
  if (const Version* v = versions_.primary(value)) return v->sharding.unreduced == axes;
  if (requests_[value.index].sharding.unreduced == axes) return true;
  const InstrId def = source_.value(value).defined_by;
  if (depth == 0 || !def.valid()) return false;
  const Instruction& i = source_.instr(def);
  if (record(i.kind).rule == nullptr) return false;
  const BoundCall bound(program_, source_, i);
  bool any = false;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    const bool partial = likely_partial(i.operands[o].value, axes, depth - 1);
    const PartialUse use = partial_use(bound.call, o, Reduction::kSum);
    if (use == PartialUse::kAllAlike && !partial) return false;
    any = any || (partial && use != PartialUse::kReduceFirst);
  }
  return any;
}

}  // namespace hostir
