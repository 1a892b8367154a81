#include "hostir/passes/choose/scale_after_sum.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "hostir/ir/unique_names.h"
#include "hostir/ops/builder.h"
#include "hostir/passes/homes/fusion_price.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/passes/propagate/factors.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

bool is_sum(const Sharding& s) { return s.is_partial() && s.unreduced_kind == Reduction::kSum; }

// The dimension that has this factor and no other.
std::optional<size_t> dim_with(const ShardingRule::TensorFactors& tensor, int factor) {
  const auto at = std::find(tensor.begin(), tensor.end(), ShardingRule::DimFactors{factor});
  return at == tensor.end() ? std::nullopt : std::optional<size_t>(at - tensor.begin());
}

// sum -completed-> whole -spread-> -scaling(unscaled)-> [-cast->] -product-> [-shaping-> ..]
// -finish->
struct ScaledProduct {
  InstrId completed;
  InstrId spread;
  InstrId scaling;
  InstrId cast;  // may be invalid
  InstrId product;
  std::vector<InstrId> shaping;  // changes of shape of the partial product
  InstrId finish;
  size_t unscaled = 0;  // the operand of `scaling`
  size_t operand = 0;   // the operand of `product`
  IntList dims;         // the dimensions of the product along which the scale varies
  Sharding target;      // of the completed product
};

class ScaleAfterSum {
 public:
  ScaleAfterSum(const Program& program, Function& made, MeshMoves& moves,
                std::span<const ValueId> keep, const ValueNames& value_names,
                Explanation& explanation)
      : program_(program),
        f_(made),
        moves_(moves),
        keep_(keep),
        value_names_(value_names),
        explanation_(explanation),
        uses_(uses_of(f_)) {}

  void run() {
    for (const InstrId id : std::vector<InstrId>(body_of(f_))) {
      const Instruction& i = f_.instr(id);
      if (i.kind != OpKind::reshard || !is_sum(sharding_at(f_, i.operands.front().value))) continue;
      const ValueId whole = i.results.front();
      if (sharding_at(f_, whole).is_partial()) continue;
      for (const InstrId spread : std::vector<InstrId>(uses_[whole.index])) {
        if (const auto found = find(id, spread)) rewrite(*found);
      }
    }
    if (!after_.empty()) rebuild_body();
  }

 private:
  // --- finding

  // The only use of an instruction's only result, unless the result must exist.
  InstrId only_use(InstrId id) const {
    const Instruction& i = f_.instr(id);
    if (i.results.size() != 1) return InstrId();
    const ValueId v = i.results.front();
    if (uses_[v.index].size() != 1 || contains(keep_, f_.value(v).origin.value)) return InstrId();
    const InstrId user = uses_[v.index].front();
    return is_terminator(f_.instr(user)) ? InstrId() : user;
  }

  size_t operand_of(const Instruction& i, ValueId v) const {
    const auto is_it = [&](const Operand& o) { return o.value == v; };
    return static_cast<size_t>(std::ranges::find_if(i.operands, is_it) - i.operands.begin());
  }

  bool is_linear(const Instruction& i, size_t operand) const {
    return partial_use(BoundCall(program_, f_, i).call, operand, Reduction::kSum) !=
           PartialUse::kReduceFirst;
  }

  std::optional<ScaledProduct> find(InstrId completed, InstrId spread) const {
    ScaledProduct p{.completed = completed, .spread = spread};
    const OpRecord& spreads = record(f_.instr(spread).kind);
    if (spreads.shape != OpShape::kBroadcast || f_.instr(spread).operands.size() != 1)
      return std::nullopt;
    p.scaling = only_use(spread);
    if (!p.scaling.valid()) return std::nullopt;
    const Instruction& scaling = f_.instr(p.scaling);
    if (record(scaling.kind).shape != OpShape::kPointwise || scaling.operands.size() != 2)
      return std::nullopt;
    p.unscaled = 1 - operand_of(scaling, f_.instr(spread).results.front());
    const ValueId unscaled = scaling.operands[p.unscaled].value;
    if (!is_float(tensor_type(f_, unscaled).dtype) || sharding_at(f_, unscaled).is_partial() ||
        !is_linear(scaling, p.unscaled))
      return std::nullopt;
    p.product = only_use(p.scaling);
    ValueId scaled = scaling.results.front();
    if (p.product.valid() && record(f_.instr(p.product).kind).shape == OpShape::kPointwise &&
        f_.instr(p.product).operands.size() == 1 && is_linear(f_.instr(p.product), 0)) {
      p.cast = p.product;
      scaled = f_.instr(p.cast).results.front();
      p.product = only_use(p.cast);
    }
    if (!p.product.valid()) return std::nullopt;
    const Instruction& product = f_.instr(p.product);
    const OpRecord& op = record(product.kind);
    p.operand = operand_of(product, scaled);
    if (op.shape != OpShape::kContraction || !is_linear(product, p.operand) ||
        (op.needs_expand != nullptr && op.needs_expand(BoundCall(program_, f_, product).call)))
      return std::nullopt;
    if (!find_dims(p) || !find_finish(p)) return std::nullopt;
    return p;
  }

  // Finds where the dimensions of the scale are in the product. The others must be contracted.
  bool find_dims(ScaledProduct& p) const {
    const auto spread = rule_of(program_, f_, f_.instr(p.spread));
    const auto product = rule_of(program_, f_, f_.instr(p.product));
    if (!spread || !product) return false;
    const ShardingRule::TensorFactors& repeated = spread->results.front();
    const ShardingRule::TensorFactors& contracted = product->operands[p.operand];
    std::vector<size_t> varies;
    for (const ShardingRule::DimFactors& dim : spread->operands.front()) {
      const auto at = dim.size() == 1 ? dim_with(repeated, dim.front()) : std::nullopt;
      if (!at || contracted[*at].size() != 1) return false;
      const auto in_product = dim_with(product->results.front(), contracted[*at].front());
      if (!in_product) return false;
      varies.push_back(*at);
      p.dims.push_back(static_cast<int64_t>(*in_product));
    }
    for (size_t d = 0; d < contracted.size(); ++d) {
      if (contains(varies, d)) continue;
      if (contracted[d].size() != 1 || !contains(product->reduction, contracted[d].front()))
        return false;
    }
    return true;
  }

  // Finds the reshard that completes the product, and what that asks of the product.
  bool find_finish(ScaledProduct& p) const {
    const Sharding& sum = sharding_at(f_, f_.instr(p.completed).operands.front().value);
    const auto is_partial_alike = [&](InstrId id) {
      const Instruction& i = f_.instr(id);
      if (i.results.size() != 1) return false;
      const Sharding& s = sharding_at(f_, i.results.front());
      return is_sum(s) && s.mesh == sum.mesh && s.unreduced == sum.unreduced;
    };
    if (!is_partial_alike(p.product)) return false;
    p.finish = only_use(p.product);
    while (p.finish.valid() && f_.instr(p.finish).kind != OpKind::reshard) {
      const Instruction& i = f_.instr(p.finish);
      if (record(i.kind).shape != OpShape::kBroadcast || i.operands.size() != 1 ||
          !is_partial_alike(p.finish))
        return false;
      p.shaping.push_back(p.finish);
      p.finish = only_use(p.finish);
    }
    if (!p.finish.valid()) return false;
    p.target = sharding_at(f_, f_.instr(p.finish).results.front());
    if (p.target.is_partial() || p.target.mesh != sum.mesh || has_blocks(p.target)) return false;
    const Mesh& mesh = *program_.find_mesh(sum.mesh);
    for (auto id = p.shaping.rbegin(); id != p.shaping.rend(); ++id) {
      const auto rule = rule_of(program_, f_, f_.instr(*id));
      if (!rule) return false;
      const FactorCuts cuts = project(mesh, *rule, rule->results.front(), p.target.dims);
      if (legalized(mesh, *rule, cuts) != cuts ||
          assemble(mesh, *rule, rule->results.front(), cuts) != p.target.dims)
        return false;
      p.target.dims = assemble(mesh, *rule, rule->operands.front(), cuts);
    }
    return true;
  }

  // --- rewriting

  ValueId moved(ValueId v, const Sharding& to, InstrId user) {
    return add_reshard(f_, v, to, user, names().fresh(f_.value(v).name + "_reduced"));
  }

  void rewrite(const ScaledProduct& p) {
    const size_t old_count = f_.instructions.size();
    const Instruction scaling = f_.instr(p.scaling);  // copied: the arena grows
    const ValueId unscaled = scaling.operands[p.unscaled].value;
    const ValueId sum = f_.instr(p.completed).operands.front().value;
    const ValueId product = f_.instr(p.product).results.front();
    Sharding rows = p.target;
    rows.dims.clear();
    for (const int64_t d : p.dims) rows.dims.push_back(p.target.dims[static_cast<size_t>(d)]);

    ops::Builder b(
        f_, f_.body, [this](std::string_view stem) { return names().fresh(stem); }, &program_);
    const auto cut = [&](ValueId v, const Sharding& s) {
      b.annotate(v, s);
      return v;
    };
    b.begin(scaling, f_.value(scaling.results.front()).name);
    const DType wide = b.dtype(unscaled);
    const DType narrow = b.dtype(product);
    const ValueId operand = p.cast.valid()
                                ? cut(b.cast(unscaled, b.dtype(f_.instr(p.cast).results.front())),
                                      sharding_at(f_, unscaled))
                                : unscaled;
    const size_t before_product = f_.instructions.size();
    const ValueId completed = moved(product, p.target, p.product);
    const ValueId scale = moved(sum, rows, p.completed);
    const ValueId spread = cut(b.broadcast(scale, p.dims, b.shape(product)), p.target);
    ops::Values operands = {spread, spread};
    operands[p.unscaled] = cut(b.cast(completed, wide), p.target);
    const ValueId scaled = cut(b.op(scaling.kind, operands, scaling.attributes), p.target);
    const ValueId result = cut(b.cast(scaled, narrow), p.target);
    if (b.error()) return;
    uses_.resize(f_.values.size());

    const InstrId scales = f_.value(scaled).defined_by;
    const double waited_ns = moves_.cost_ns(tensor_type(f_, sum), sharding_at(f_, sum),
                                            sharding_at(f_, f_.instr(p.completed).results.front()));
    const double before_ns = work_ns(program_, f_, f_.instr(p.scaling), moves_) + waited_ns;
    const double after_ns = work_ns(program_, f_, f_.instr(scales), moves_);
    if (after_ns > before_ns) return;

    const auto is_new = [&](size_t from, size_t to, std::vector<InstrId>& out) {
      for (size_t id = from; id < to; ++id) out.push_back(InstrId{static_cast<uint32_t>(id)});
    };
    is_new(old_count, before_product, before_[p.product]);
    is_new(before_product, f_.instructions.size(), after_[p.product]);
    f_.instr(p.product).operands[p.operand].value = operand;
    // Neither is scaled any more.
    f_.value(product).origin = f_.value(completed).origin = {};
    pass_on(p, result);
    drop(p);
    uses_[sum.index].push_back(f_.value(scale).defined_by);
    explanation_.push_back(
        {.value = name_of(f_.value(f_.instr(p.finish).results.front()), value_names_),
         .what = "is scaled after its sum",
         .sentence = fmt::format("the sum over {} that scales it is complete at the same time; {} "
                                 "of work, {} with the sum that it would wait for",
                                 axes_to_string(sharding_at(f_, sum).unreduced),
                                 time_text(after_ns), time_text(before_ns)),
         .from = name_of(f_.value(sum), value_names_),
         .pass = "reshard"});
  }

  // The changes of shape take the scaled product, which is not partial.
  void pass_on(const ScaledProduct& p, ValueId result) {
    for (const InstrId id : p.shaping) {
      const Instruction& i = f_.instr(id);
      const auto rule = rule_of(program_, f_, i);
      const Sharding& held = sharding_at(f_, result);
      const FactorCuts cuts =
          project(*program_.find_mesh(held.mesh), *rule, rule->operands.front(), held.dims);
      Sharding s = p.target;
      s.dims = assemble(*program_.find_mesh(held.mesh), *rule, rule->results.front(), cuts);
      f_.instr(id).operands.front().value = result;
      result = i.results.front();
      tensor_type(f_, result).sharding = s;
    }
    // What uses the completed product uses this. It has the product's name, or that of its shape.
    const ValueId finished = f_.instr(p.finish).results.front();
    const InstrId by = f_.value(result).defined_by;
    f_.instr(by).results = {finished};
    f_.value(finished).defined_by = by;
    if (p.shaping.empty()) result = f_.instr(p.product).results.front();
    f_.value(finished).name = f_.value(result).name;
    f_.value(result).name = names().fresh(f_.value(result).name + "_unscaled");
  }

  void drop(const ScaledProduct& p) {
    for (const InstrId id : {p.spread, p.scaling, p.finish}) dropped_.insert(id);
    if (p.cast.valid()) dropped_.insert(p.cast);
    std::vector<InstrId>& others = uses_[f_.instr(p.completed).results.front().index];
    std::erase(others, p.spread);
    if (others.empty()) dropped_.insert(p.completed);
  }

  void rebuild_body() {
    std::vector<InstrId> body;
    const auto append = [&](const std::map<InstrId, std::vector<InstrId>>& from, InstrId id) {
      const auto at = from.find(id);
      if (at != from.end()) body.insert(body.end(), at->second.begin(), at->second.end());
    };
    for (const InstrId id : body_of(f_)) {
      if (id.index >= count_ || dropped_.contains(id)) continue;
      append(before_, id);
      body.push_back(id);
      append(after_, id);
    }
    f_.region(f_.body).instructions = std::move(body);
  }

  UniqueNames& names() {
    if (!names_) names_.emplace(f_);
    return *names_;
  }

  const Program& program_;
  Function& f_;
  MeshMoves& moves_;
  std::span<const ValueId> keep_;
  const ValueNames& value_names_;
  Explanation& explanation_;
  std::vector<std::vector<InstrId>> uses_;
  const size_t count_ = f_.instructions.size();  // before the first rewrite
  std::optional<UniqueNames> names_;
  std::set<InstrId> dropped_;
  std::map<InstrId, std::vector<InstrId>> before_;  // new instructions around a product
  std::map<InstrId, std::vector<InstrId>> after_;
};

}  // namespace

void scale_after_sum(const Program& program, Function& made, MeshMoves& moves,
                     std::span<const ValueId> keep, const ValueNames& value_names,
                     Explanation& explanation) {
  ScaleAfterSum(program, made, moves, keep, value_names, explanation).run();
}

}  // namespace hostir
