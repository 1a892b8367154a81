#include "hostir/passes/propagate/sum_requests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/propagate/factors.h"

namespace hostir {

namespace {

constexpr int kLookahead = 8;  // maximum number of ops between a sum and a reduction of it

using Dims = std::vector<DimSharding>;

class SumRequests {
 public:
  SumRequests(const Program& program, const Function& f, std::vector<RequestedSharding>& requests)
      : program_(program), f_(f), requests_(requests), uses_(uses_of(f)) {}

  void run() {
    note_sums();
    if (!any_) return;
    const std::vector<InstrId>& body = body_of(f_);
    for (auto id = body.rbegin(); id != body.rend(); ++id) {
      for (const ValueId v : f_.instr(*id).results) ask_users(v);
    }
    for (const Parameter& p : f_.params) ask_other_users(p.value);
    for (const InstrId id : body) {
      for (const ValueId v : f_.instr(id).results) ask_other_users(v);
    }
  }

 private:
  const Sharding& request(ValueId v) const { return requests_[v.index].sharding; }
  const Mesh& mesh_of(ValueId v) const { return *program_.find_mesh(request(v).mesh); }

  // Finds the axes over which each value is a partial sum, or is computed from one.
  void note_sums() {
    sums_.resize(f_.values.size());
    const auto note = [&](ValueId v) {
      const Sharding& s = request(v);
      if (!s.is_partial() || s.unreduced_kind != Reduction::kSum) return;
      sums_[v.index] = s.unreduced;
      any_ = true;
    };
    for (const Parameter& p : f_.params) note(p.value);
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      const OpShape shape = record(i.kind).shape;
      for (const ValueId r : i.results) {
        note(r);
        if (shape != OpShape::kPointwise && shape != OpShape::kBroadcast) continue;
        for (const Operand& o : i.operands) {
          if (!o.value.valid()) continue;
          const AxisList& more = sums_[o.value.index];
          if (more.empty() || request(o.value).mesh != request(r).mesh) continue;
          sums_[r.index] =
              joined(mesh_of(r), sums_[r.index], without(mesh_of(r), more, sums_[r.index]));
        }
      }
    }
  }

  // The dimensions of `v` that `user` needs to make its result as requested; nullopt if this says
  // nothing.
  std::optional<Dims> wanted_by(const Instruction& user, ValueId v) const {
    if (is_terminator(user) || user.results.size() != 1 || record(user.kind).rule == nullptr)
      return std::nullopt;
    const Sharding& made = request(user.results.front());
    if (made.mesh != request(v).mesh) return std::nullopt;
    const auto rule = rule_of(program_, f_, user);
    if (!rule) return std::nullopt;
    const Mesh& mesh = mesh_of(v);
    const FactorCuts cuts = project(mesh, *rule, rule->results.front(), made.dims);
    std::optional<Dims> out;
    for (size_t o = 0; o < user.operands.size(); ++o) {
      if (user.operands[o].value != v) continue;
      Dims dims = assemble(mesh, *rule, rule->operands[o], cuts);
      if (out && *out != dims) return std::nullopt;
      out = std::move(dims);
    }
    return out;
  }

  // True if `wanted` cuts `v` as requested and further, over axes of `sum` only.
  bool cuts_further(ValueId v, const Dims& wanted, const AxisList& sum) const {
    const Mesh& mesh = mesh_of(v);
    const Sharding& held = request(v);
    bool any = false;
    for (size_t d = 0; d < wanted.size(); ++d) {
      const AxisList& before = held.dims[d].axes;
      if (wanted[d].is_placed() || held.dims[d].is_placed()) return false;
      if (!before.empty() && !wanted[d].cuts_alike(held.dims[d])) return false;
      if (!is_prefix(mesh, before, wanted[d].axes)) return false;
      const AxisList more = suffix_after(mesh, wanted[d].axes, before);
      if (!without(mesh, more, sum).empty()) return false;
      any = any || !more.empty();
    }
    return any;
  }

  bool may_change(ValueId v) const {
    const RequestedSharding& r = requests_[v.index];
    return !r.fixed && !r.only_returned && !r.returned_partial && !r.sharding.is_partial();
  }

  void ask_users(ValueId v) {
    if (sums_[v.index].empty() || !may_change(v) || uses_[v.index].empty()) return;
    std::optional<Dims> all;
    for (const InstrId user : uses_[v.index]) {
      std::optional<Dims> wanted = wanted_by(f_.instr(user), v);
      if (!wanted || (all && *all != *wanted)) return;
      all = std::move(wanted);
    }
    if (cuts_further(v, *all, sums_[v.index])) requests_[v.index].sharding.dims = std::move(*all);
  }

  void ask_other_users(ValueId v) {
    const Sharding& held = request(v);
    if (!held.is_partial() || sums_[v.index].empty() || uses_[v.index].size() < 2) return;
    std::optional<Dims> cut;
    std::vector<InstrId> others;
    for (const InstrId user : uses_[v.index]) {
      std::optional<Dims> wanted = wanted_by(f_.instr(user), v);
      if (!wanted || !cuts_further(v, *wanted, sums_[v.index])) {
        others.push_back(user);
      } else if (!cut) {
        cut = std::move(wanted);
      } else if (*cut != *wanted) {
        return;
      }
    }
    std::vector<std::pair<ValueId, Dims>> changes;
    const auto takes = [&](InstrId user) {
      return takes_cut(f_.instr(user), v, *cut, sums_[v.index], kLookahead, changes);
    };
    if (!cut || !std::all_of(others.begin(), others.end(), takes)) return;
    for (auto& [value, dims] : changes) requests_[value.index].sharding.dims = std::move(dims);
  }

  // True if `user` can take `v` in this cut, and nothing after it needs more than the rank's part.
  bool takes_cut(const Instruction& user, ValueId v, const Dims& cut, const AxisList& sum,
                 int lookahead, std::vector<std::pair<ValueId, Dims>>& changes) const {
    const OpShape shape = record(user.kind).shape;
    if ((shape != OpShape::kPointwise && shape != OpShape::kReduction) || lookahead == 0 ||
        user.results.size() != 1)
      return false;
    const ValueId result = user.results.front();
    if (request(result).mesh != request(v).mesh) return false;
    const auto rule = rule_of(program_, f_, user);
    if (!rule) return false;
    const Mesh& mesh = mesh_of(v);
    size_t operand = 0;
    while (user.operands[operand].value != v) ++operand;
    const FactorCuts cuts = project(mesh, *rule, rule->operands[operand], cut);
    Dims made = assemble(mesh, *rule, rule->results.front(), cuts);
    if (!cuts_further(result, made, sum)) {
      return request(result).dims == made || !reduced_axes(mesh, *rule, cuts, 0).empty();
    }
    if (!may_change(result)) return false;
    changes.emplace_back(result, std::move(made));
    const Dims passed = changes.back().second;
    return std::all_of(uses_[result.index].begin(), uses_[result.index].end(), [&](InstrId next) {
      return takes_cut(f_.instr(next), result, passed, sum, lookahead - 1, changes);
    });
  }

  const Program& program_;
  const Function& f_;
  std::vector<RequestedSharding>& requests_;
  const std::vector<std::vector<InstrId>> uses_;
  std::vector<AxisList> sums_;  // by value
  bool any_ = false;
};

}  // namespace

void request_scattered_sums(const Program& program, const Function& fusion,
                            std::vector<RequestedSharding>& requests) {
  SumRequests(program, fusion, requests).run();
}

}  // namespace hostir
