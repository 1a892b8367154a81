#include "hostir/passes/choose/reshard.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "hostir/ops/builder.h"
#include "hostir/passes/choose/placement_choice.h"
#include "hostir/passes/propagate/factors.h"
#include "hostir/passes/propagate/sum_requests.h"
#include "hostir/passes/windows/border_sums.h"
#include "hostir/passes/windows/halo_exchange.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

// A scalar without annotation may stay partial until an op needs it whole.
bool closed(const Sharding& s) {
  if (s.dims.empty()) return s.is_partial();
  return std::none_of(s.dims.begin(), s.dims.end(), [](const DimSharding& d) { return d.open; });
}

class Resharder {
 public:
  Resharder(const Program& program, Function fusion, MeshMoves& moves,
            std::span<const ValueId> keep, const AxisHomes& homes, Explanation& explanation,
            Alternatives alternatives)
      : program_(program),
        source_(std::move(fusion)),
        moves_(moves),
        keep_(keep),
        homes_(homes),
        alternatives_(alternatives),
        versions_(program, moves, source_, out_, explanation, alternatives) {}

  Expected<Resharded> run() {
    begin();
    uint32_t number = 0;
    const std::vector<InstrId> body = body_of(source_);
    needed_ = needed_values();
    const std::vector<bool>& needed = needed_;
    for (const InstrId id : body) {
      Instruction& i = source_.instr(id);
      ++number;
      const auto is_needed = [&](ValueId v) { return needed[v.index]; };
      if (!is_terminator(i) && std::none_of(i.results.begin(), i.results.end(), is_needed))
        continue;
      if (i.from.empty()) i.from = {{source_.name, number}};
      const uint32_t written = written_number(source_, i, number);
      if (is_terminator(i)) {
        finish(i, written);
      } else {
        HOSTIR_TRY(process(id, written));
      }
    }
    return Resharded{std::move(out_), std::move(annotated_)};
  }

 private:
  // The sharding without units that make no difference.
  Sharding effective_of(const Sharding& sharding, const Shape& shape) const {
    const Mesh& mesh = moves_.mesh(sharding.mesh);
    Sharding out = effective(mesh, sharding);
    for (size_t d = 0; d < out.dims.size(); ++d) {
      DimSharding& dim = out.dims[d];
      const IndexExpr size = shape[d].simplified();
      dim.unit = cut_over(mesh, dim.axes, dim.unit, size.is_const() ? size.value() : -1).unit;
    }
    return out;
  }

  // Chooses among the shardings of one mesh.
  OpChooser& chooser_on(const std::string& mesh) {
    const auto [at, is_new] = choosers_.try_emplace(mesh);
    if (is_new) {
      at->second = std::make_unique<OpChooser>(program_, source_, moves_.on(mesh), requests_,
                                               versions_, homes_, moves_.choices_on(mesh));
      at->second->note_users();
    }
    return *at->second;
  }

  void begin() {
    out_.kind = source_.kind;
    out_.name = source_.name;
    out_.mesh = source_.mesh;
    out_.documentation = source_.documentation;
    out_.comments = source_.comments;
    out_.span = source_.span;
    out_.name_span = source_.name_span;
    out_.body = out_.add_region();
    out_.regions[out_.body.index].closing_comments = source_.region(source_.body).closing_comments;
    for (const Value& v : source_.values) {
      const Sharding& s = *sharding_of(v.type);
      requests_.push_back({effective_of(s, shape_of(v.type)), closed(s)});
    }
    request_results();
    request_scattered_sums(program_, source_, requests_);
    halos_.emplace(source_, requests_, keep_);
    sums_.emplace(source_, requests_, moves_, keep_);
    for (const Parameter& p : source_.params) {
      TensorType type = tensor_type(source_, p.value);
      type.sharding = requests_[p.value.index].sharding;
      const ValueId made = versions_.add_value(source_.value(p.value).name, type);
      out_.value(made).span = source_.value(p.value).span;
      out_.params.push_back({made, p.inout});
      versions_.add(p.value, {made, *type.sharding});
    }
  }

  // By value: true if a result or a value to keep depends on it.
  std::vector<bool> needed_values() const {
    std::vector<bool> needed(source_.values.size(), false);
    for (size_t v = 0; v < needed.size(); ++v) {
      needed[v] = contains(keep_, source_.values[v].origin.value);
    }
    const std::vector<InstrId>& body = body_of(source_);
    for (auto id = body.rbegin(); id != body.rend(); ++id) {
      const Instruction& i = source_.instr(*id);
      const auto is_needed = [&](ValueId v) { return needed[v.index]; };
      if (!is_terminator(i) && std::none_of(i.results.begin(), i.results.end(), is_needed))
        continue;
      for (const Operand& o : i.operands) {
        if (o.value.valid()) needed[o.value.index] = true;
      }
    }
    return needed;
  }

  // The sharding in which a result is returned: that of the parameter whose alias it is, as
  // declared, else replicated.
  Sharding sharding_of_result(size_t r, ValueId value) const {
    const bool has_declaration = r < source_.results.size();
    if (has_declaration && source_.results[r].alias) {
      const auto parameter = source_.find_value(*source_.results[r].alias);
      if (parameter) return requests_[parameter->index].sharding;
    }
    const Sharding* declared = has_declaration ? sharding_of(source_.results[r].type) : nullptr;
    return declared != nullptr ? effective_of(*declared, shape_of(source_.results[r].type))
                               : Sharding::replicated(requests_[value.index].sharding.mesh,
                                                      tensor_type(source_, value).shape.size());
  }

  // A value that is only returned is best made in the sharding of the result. A result declared
  // partial allows its value to stay partial.
  void request_results() {
    const Instruction& ret = source_.instr(body_of(source_).back());
    const auto uses = uses_of(source_);
    for (size_t r = 0; r < ret.operands.size(); ++r) {
      const ValueId value = ret.operands[r].value;
      RequestedSharding& request = requests_[value.index];
      if (request.fixed) continue;
      const Sharding needed = sharding_of_result(r, value);
      request.only_returned = uses[value.index].size() == 1;
      request.returned_partial = needed.is_partial();
      if (request.only_returned || request.returned_partial) request.sharding = needed;
    }
  }

  Expected<void> process(InstrId id, uint32_t number) {
    const Instruction i = source_.instr(id);  // copied because expanding grows the arena
    const OpRecord& op = record(i.kind);
    const UseSite use{fmt::format("{} at {}", op.mnemonic, address(source_, number)), number};
    if (op.shape == OpShape::kLayout) return lower_reshard(i, use);
    if (op.shape == OpShape::kSource && !requests_[i.results.front().index].fixed) return {};
    if (op.expand_blocks != nullptr) {
      HOSTIR_ASSIGN_OR_RETURN(const bool expanded, expand_blocks(i, op, number));
      if (expanded) return {};
      if (op.shape == OpShape::kComposite) return expand(i, op, number);
    }
    HOSTIR_ASSIGN_OR_RETURN(const bool shared, share_borders(i, number));
    if (shared) return {};
    HOSTIR_ASSIGN_OR_RETURN(const OpChoice* choice,
                            chooser_on(requests_[i.results.front().index].sharding.mesh).choose(i));
    if (choice->expand) return expand(i, op, number);
    emit(i, *choice, use);
    return {};
  }

  // Makes a slice, pad, roll or sum that shares its exchange with others (halo_exchange.h,
  // border_sums.h). False if it has an exchange of its own, or none.
  Expected<bool> share_borders(const Instruction& i, uint32_t number) {
    const ValueId value = i.results.front();
    if (sums_->is_skipped(value)) return true;
    if (sums_->is_sum(value)) return build_shared(i, *sums_, number);
    const std::optional<ValueId> root = halos_->root_of(value);
    const Version* held = root ? versions_.primary(*root) : nullptr;
    if (held == nullptr) return false;
    Sharding along = held->sharding.is_partial() ? requests_[root->index].sharding : held->sharding;
    along.unreduced.clear();
    along.unreduced_kind = Reduction::kSum;
    halos_->decide(*root, moves_.mesh(along.mesh), along);
    if (halos_->is_skipped(value)) return true;
    if (!halos_->is_tap(value)) return false;
    return build_shared(i, *halos_, number);
  }

  template <class Exchanges>
  Expected<bool> build_shared(const Instruction& i, Exchanges& exchanges, uint32_t number) {
    const size_t before = source_.values.size();
    const RegionId scratch = source_.add_region();
    ops::Builder builder = builder_in(scratch, i);
    std::map<ValueId, RequestedSharding> wanted;
    const ValueId made = exchanges.build(builder, i.results.front(), wanted);
    if (builder.error()) return tl::unexpected(*builder.error());
    HOSTIR_TRY(
        replace(i, scratch, before, {made}, number, [&](ValueId v) { return wanted.at(v); }));
    return true;
  }

  // Handles a reshard in the source fusion.
  Expected<void> lower_reshard(const Instruction& i, const UseSite& use) {
    const ValueId result = i.results.front();
    const Sharding& target = requests_[result.index].sharding;
    const ValueId held =
        versions_.obtain(i.operands.front().value, target, use, source_.value(result).name);
    versions_.add(result, {held, target});
    return {};
  }

  Expected<void> expand(const Instruction& i, const OpRecord& op, uint32_t number) {
    const size_t before = source_.values.size();
    const RegionId scratch = source_.add_region();
    ops::Builder builder = builder_in(scratch, i);
    const std::vector<ValueId> made = op.expand(builder);
    if (builder.error()) return tl::unexpected(*builder.error());
    return replace(i, scratch, before, made, number, [&](ValueId v) {
      return RequestedSharding{request_for(i, tensor_type(source_, v), nullptr)};
    });
  }

  // Expands an op along a cut dimension block by block. False if a gather is better.
  Expected<bool> expand_blocks(const Instruction& i, const OpRecord& op, uint32_t number) {
    const ValueId operand = i.operands.front().value;
    const Version* held = versions_.primary(operand);
    if (held == nullptr || held->sharding.is_partial()) return false;
    const size_t rank = held->sharding.dims.size();
    const auto dim = static_cast<size_t>(ops::dim_of(i.attributes, "dim", rank));
    const DimSharding& cut = held->sharding.dims[dim];
    const int64_t parts = part_count(moves_.mesh(held->sharding.mesh), cut.axes);
    if (parts < 2 || cut.has_blocks() || !blocks_pay(i, dim)) return false;
    const size_t before = source_.values.size();
    const RegionId scratch = source_.add_region();
    ops::Builder builder = builder_in(scratch, i);
    const std::vector<ValueId> made = op.expand_blocks(builder, parts);
    if (made.empty()) return false;
    if (builder.error()) return tl::unexpected(*builder.error());
    const Sharding along = held->sharding;  // copied because versions are added
    HOSTIR_TRY(replace(i, scratch, before, made, number, [&](ValueId v) {
      const TensorType& type = tensor_type(source_, v);
      RequestedSharding out{request_for(i, type, &along)};
      // The blocks exchange little data, so it is gathered in as few steps as possible.
      out.fixed = type.shape.size() == rank && out.sharding.dims[dim].axes.empty();
      return out;
    }));
    return true;
  }

  // Gathering fewer bytes takes no longer than launching the kernels of the blocks. A result that
  // is wanted in blocks too would need a second exchange.
  bool blocks_pay(const Instruction& i, size_t dim) const {
    constexpr double kSmallestBytes = 1 << 16;
    const TensorType& type = tensor_type(source_, i.operands.front().value);
    const ValueId result = i.results.front();
    if (i.results.size() == 1 && tensor_type(source_, result).shape == type.shape &&
        !requests_[result.index].sharding.dims[dim].axes.empty())
      return true;
    const double elems = largest_local_elems(Mesh(), type.shape, Sharding());
    return elems * static_cast<double>(size_bytes(type.dtype)) >= kSmallestBytes;
  }

  ops::Builder builder_in(RegionId region, const Instruction& i) {
    ops::Builder builder(source_, region,
                         [this](std::string_view stem) { return source_.unique_name(stem); });
    builder.begin(i, source_.value(i.results.front()).name);
    return builder;
  }

  // The request for a value that an expansion of `i` made. A value of the result's shape is best
  // cut like the result. With `blocks`, the sharding of the operand, a value with one more
  // dimension or with as many elements as the operand is best cut like the operand.
  Sharding request_for(const Instruction& i, const TensorType& type, const Sharding* blocks) const {
    const ValueId result = i.results.front();
    const Sharding& request = requests_[result.index].sharding;
    Sharding out = Sharding::replicated(request.mesh, type.shape.size());
    if (blocks == nullptr) return type.shape == tensor_type(source_, result).shape ? request : out;
    const Shape operand = tensor_type(source_, i.operands.front().value).shape;
    const size_t rank = operand.size();
    const auto dim = static_cast<size_t>(ops::dim_of(i.attributes, "dim", rank));
    if (type.shape.size() == rank + 1) {
      out.dims = blocks->dims;
      out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(dim) + 1, DimSharding());
    } else if (type.shape.size() == rank) {
      out.dims = blocks->dims;
      const bool long_enough =
          type.shape[dim].simplified().value() >= operand[dim].simplified().value();
      if (!long_enough) out.dims[dim] = {};
    }
    return out;
  }

  // Processes the instructions in `scratch`, whose values `made` replace the results of `i`.
  // `request_of` says how the values from number `before` on are best cut.
  Expected<void> replace(const Instruction& i, RegionId scratch, size_t before,
                         const std::vector<ValueId>& made, uint32_t number,
                         const std::function<RequestedSharding(ValueId)>& request_of) {
    for (size_t v = before; v < source_.values.size(); ++v)
      versions_.explain_as(ValueId(v), i.results.front());
    for (size_t v = requests_.size(); v < source_.values.size(); ++v) {
      RequestedSharding mine = request_of(ValueId(v));
      mine.sharding.unreduced.clear();
      std::get<TensorType>(source_.values[v].type).sharding = mine.sharding;
      requests_.push_back(std::move(mine));
    }
    std::vector<bool> needed(source_.values.size(), false);
    for (size_t r = 0; r < i.results.size(); ++r) {
      source_.value(made[r]).name = source_.value(i.results[r]).name;  // replaces the result
      source_.value(made[r]).origin = source_.value(i.results[r]).origin;
      requests_[made[r].index] = requests_[i.results[r].index];
      const uint32_t index = i.results[r].index;
      needed[made[r].index] = index >= needed_.size() || needed_[index];
    }
    for (auto& [mesh, chooser] : choosers_) chooser->note_users();
    const std::vector<InstrId> steps = source_.region(scratch).instructions;
    const auto is_needed = [&](InstrId step) {
      const Instruction& s = source_.instr(step);
      return std::any_of(s.results.begin(), s.results.end(),
                         [&](ValueId v) { return needed[v.index]; });
    };
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (!is_needed(*step)) continue;
      for (const Operand& o : source_.instr(*step).operands) {
        if (o.value.valid()) needed[o.value.index] = true;
      }
    }
    for (const InstrId step : steps) {
      if (is_needed(step)) HOSTIR_TRY(process(step, number));
    }
    for (size_t r = 0; r < i.results.size(); ++r) {
      if (needed[made[r].index]) versions_.add(i.results[r], *versions_.primary(made[r]));
    }
    return {};
  }

  void emit(const Instruction& i, const OpChoice& choice, const UseSite& use) {
    const ValueId first = i.results.front();
    if (alternatives_ == Alternatives::kExplained) {
      auto why = chooser_on(requests_[first.index].sharding.mesh).explained(i, choice, use.by);
      if (why) versions_.explain(first, std::move(*why), use);
    }
    Instruction made = i;
    made.results.clear();
    for (size_t o = 0; o < i.operands.size(); ++o) {
      made.operands[o].value = versions_.obtain(i.operands[o].value, choice.operands[o], use);
    }
    for (size_t r = 0; r < i.results.size(); ++r) {
      const ValueId value = i.results[r];
      const RequestedSharding& request = requests_[value.index];
      const bool as_requested = !request.fixed || request.sharding == choice.results[r];
      TensorType type = tensor_type(source_, value);
      type.sharding = choice.results[r];
      std::string name = source_.value(value).name;
      if (!as_requested) name += choice.results[r].is_partial() ? "_partial" : "_before";
      const ValueId result = versions_.add_value(name, type);
      out_.value(result).span = source_.value(value).span;
      made.results.push_back(result);
      versions_.add(value, {result, choice.results[r]});
      if (choice.results[r].is_partial())
        versions_.explain(value, why_partial(source_, i, choice, r, use.by), use);
    }
    out_.add_instruction(out_.body, std::move(made));
    for (size_t r = 0; r < i.results.size(); ++r) follow(i, i.results[r], choice.results[r]);
    for (size_t r = 0; r < i.results.size(); ++r) {
      const RequestedSharding& request = requests_[i.results[r].index];
      if (!request.fixed || request.sharding == choice.results[r]) continue;
      const UseSite annotation{std::string(kAnnotationUse), use.number};
      annotated_.push_back(versions_.obtain(i.results[r], request.sharding, annotation,
                                            source_.value(i.results[r]).name));
      versions_.prefer_last(i.results[r]);
    }
  }

  // A value whose request changes, with the request before and after, which differ.
  struct Changed {
    ValueId value;
    std::vector<DimSharding> before;
    std::vector<DimSharding> after;
  };

  // A contraction made its result in another sharding than requested, although its choice counted
  // the cost of the move. Pointwise ops and changes of shape on the result that have the same
  // request then follow it. Otherwise the value would be moved, and often moved back for the next
  // contraction.
  void follow(const Instruction& i, ValueId value, const Sharding& held) {
    const RequestedSharding request = requests_[value.index];
    if (record(i.kind).shape != OpShape::kContraction || request.fixed || request.only_returned ||
        held.is_partial() || request.sharding.is_partial() || held == request.sharding ||
        request.sharding.is_fully_replicated() || held.is_fully_replicated() || has_blocks(held)) {
      return;
    }
    if (users_.empty()) users_ = uses_of(source_);
    std::vector<Changed> open = {{value, request.sharding.dims, held.dims}};
    requests_[value.index].sharding = held;
    while (!open.empty()) {
      const Changed at = std::move(open.back());
      open.pop_back();
      if (at.value.index >= users_.size()) continue;  // made by an expansion
      for (const InstrId user : users_[at.value.index]) pass_on(at, user, open);
      const InstrId def = source_.value(at.value).defined_by;
      if (def.valid()) pass_on(at, def, open);
    }
  }

  // Changes the requests for the instruction's other values of the same kind.
  void pass_on(const Changed& at, InstrId id, std::vector<Changed>& open) {
    const Instruction& i = source_.instr(id);
    const auto take = [&](ValueId next, std::vector<DimSharding> before,
                          std::vector<DimSharding> after) {
      RequestedSharding& theirs = requests_[next.index];
      if (before == after || theirs.fixed || theirs.only_returned ||
          theirs.sharding.dims != before || theirs.sharding.is_partial() ||
          versions_.primary(next) != nullptr) {
        return;
      }
      theirs.sharding.dims = after;
      open.push_back({next, std::move(before), std::move(after)});
    };
    const OpShape shape = record(i.kind).shape;
    if (shape == OpShape::kPointwise) {
      for (const ValueId r : i.results) take(r, at.before, at.after);
      for (const Operand& o : i.operands) take(o.value, at.before, at.after);
    } else if (shape == OpShape::kBroadcast && i.operands.size() == 1 &&
               i.operands.front().value == at.value) {
      const auto rule = rule_of(program_, source_, i);
      if (!rule) return;
      const Mesh& mesh = moves_.mesh(requests_[at.value.index].sharding.mesh);
      const auto through = [&](const std::vector<DimSharding>& dims) {
        return assemble(mesh, *rule, rule->results.front(),
                        project(mesh, *rule, rule->operands.front(), dims));
      };
      take(i.results.front(), through(at.before), through(at.after));
    }
  }

  void finish(const Instruction& i, uint32_t number) {
    Instruction made = i;
    const UseSite use{fmt::format("return at {}", address(source_, number)), number};
    for (size_t r = 0; r < i.operands.size(); ++r) {
      const ValueId value = i.operands[r].value;
      TensorType type = tensor_type(source_, value);
      type.sharding = sharding_of_result(r, value);
      made.operands[r].value = versions_.obtain(value, *type.sharding, use);
      if (r >= source_.results.size()) continue;
      ResultDecl decl = source_.results[r];
      decl.type = type;
      out_.results.push_back(std::move(decl));
    }
    out_.add_instruction(out_.body, std::move(made));
  }

  const Program& program_;
  Function source_;
  MeshMoves& moves_;
  std::span<const ValueId> keep_;
  const AxisHomes& homes_;
  const Alternatives alternatives_;
  std::vector<ValueId> annotated_;           // in out_, resharded to their annotations
  std::vector<bool> needed_;                 // by value, before expansions
  std::vector<std::vector<InstrId>> users_;  // by value; filled on first use
  Function out_;
  std::vector<RequestedSharding> requests_;
  std::optional<HaloExchanges> halos_;
  std::optional<BorderSums> sums_;
  ValueVersions versions_;
  std::map<std::string, std::unique_ptr<OpChooser>> choosers_;  // by mesh
};

}  // namespace

Expected<Resharded> insert_reshards(const Program& program, Function fusion, MeshMoves& moves,
                                    std::span<const ValueId> keep, Explanation& explanation,
                                    const AxisHomes& homes, Alternatives alternatives) {
  return Resharder(program, std::move(fusion), moves, keep, homes, explanation, alternatives).run();
}

}  // namespace hostir
