#include "hostir/passes/reshard.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>

#include "hostir/ops/builder.h"
#include "hostir/passes/placement_choice.h"

namespace hostir {

namespace {

bool closed(const Sharding& s) {
  return std::none_of(s.dims.begin(), s.dims.end(), [](const DimSharding& d) { return d.open; });
}

class Resharder {
 public:
  Resharder(const Program& program, Function fusion, MeshMoves& moves,
            std::span<const std::string> keep, Explanation& explanation)
      : program_(program),
        source_(std::move(fusion)),
        moves_(moves),
        keep_(keep),
        versions_(moves, source_, out_, explanation) {}

  Expected<Resharded> run() {
    begin();
    uint32_t number = 0;
    const std::vector<InstrId> body = body_of(source_);
    const std::vector<bool> needed = needed_values();
    for (const InstrId id : body) {
      Instruction& i = source_.instr(id);
      ++number;
      const auto is_needed = [&](ValueId v) { return needed[v.index]; };
      if (!is_terminator(i) && std::none_of(i.results.begin(), i.results.end(), is_needed))
        continue;
      if (i.from.empty()) i.from = {{source_.name, number}};
      if (is_terminator(i)) {
        finish(i, number);
      } else {
        HOSTIR_TRY(process(id, number));
      }
    }
    return Resharded{std::move(out_), versions_.origins()};
  }

 private:
  Sharding effective_of(const Sharding& s) const { return effective(moves_.mesh(s.mesh), s); }

  // Chooses among the shardings of one mesh.
  OpChooser& chooser_on(const std::string& mesh) {
    const auto [at, is_new] = choosers_.try_emplace(mesh);
    if (is_new) {
      at->second = std::make_unique<OpChooser>(program_, source_, moves_.on(mesh), wishes_,
                                               versions_, moves_.choices_on(mesh));
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
      wishes_.push_back({effective_of(s), closed(s)});
    }
    wish_for_results();
    for (const Parameter& p : source_.params) {
      TensorType type = tensor_type(source_, p.value);
      type.sharding = wishes_[p.value.index].sharding;
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
      needed[v] = std::find(keep_.begin(), keep_.end(), source_.values[v].name) != keep_.end();
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

  // The sharding in which a result is returned: as declared, else replicated.
  Sharding sharding_of_result(size_t r, ValueId value) const {
    const Sharding* declared =
        r < source_.results.size() ? sharding_of(source_.results[r].type) : nullptr;
    return declared != nullptr ? effective_of(*declared)
                               : Sharding::replicated(wishes_[value.index].sharding.mesh,
                                                      tensor_type(source_, value).shape.size());
  }

  // A value that is only returned is best made in the sharding of the result. A result declared
  // partial allows its value to stay partial.
  void wish_for_results() {
    const Instruction& ret = source_.instr(body_of(source_).back());
    const auto uses = uses_of(source_);
    for (size_t r = 0; r < ret.operands.size(); ++r) {
      const ValueId value = ret.operands[r].value;
      Wish& wish = wishes_[value.index];
      if (wish.fixed) continue;
      const Sharding needed = sharding_of_result(r, value);
      wish.only_returned = uses[value.index].size() == 1;
      wish.returned_partial = needed.is_partial();
      if (wish.only_returned || wish.returned_partial) wish.sharding = needed;
    }
  }

  Expected<void> process(InstrId id, uint32_t number) {
    const Instruction i = source_.instr(id);  // copied because expanding grows the arena
    const OpRecord& op = record(i.kind);
    const Demand demand{fmt::format("{} at {}", op.mnemonic, address(source_, number)), number};
    if (op.shape == OpShape::kLayout) return relay(i, demand);
    if (op.shape == OpShape::kSource && !wishes_[i.results.front().index].fixed) return {};
    HOSTIR_ASSIGN_OR_RETURN(const OpChoice* choice,
                            chooser_on(wishes_[i.results.front().index].sharding.mesh).choose(i));
    if (choice->expand) return expand(i, op, number);
    emit(i, *choice, demand);
    return {};
  }

  // Handles a reshard in the source fusion.
  Expected<void> relay(const Instruction& i, const Demand& demand) {
    const ValueId result = i.results.front();
    const Sharding& target = wishes_[result.index].sharding;
    const ValueId held =
        versions_.obtain(i.operands.front().value, target, demand, source_.value(result).name);
    versions_.add(result, {held, target});
    return {};
  }

  Expected<void> expand(const Instruction& i, const OpRecord& op, uint32_t number) {
    const ValueId result = i.results.front();
    const RegionId scratch = source_.add_region();
    const std::string name = source_.value(result).name;
    const size_t before = source_.values.size();
    ops::Builder builder(source_, scratch,
                         [this](std::string_view stem) { return source_.unique_name(stem); });
    builder.begin(i, name);
    const ValueId last = op.expand(builder).front();
    if (builder.error()) return tl::unexpected(*builder.error());
    source_.value(last).name = name;  // it replaces the result, so it takes the name
    for (size_t v = before; v < source_.values.size(); ++v) versions_.speak_of(ValueId(v), result);
    // Intermediate values of the result's shape get its wish; others have no preference.
    const Wish wish = wishes_[result.index];
    const Shape shape = tensor_type(source_, result).shape;
    for (size_t v = wishes_.size(); v < source_.values.size(); ++v) {
      auto& type = std::get<TensorType>(source_.values[v].type);
      Wish mine{type.shape == shape ? wish.sharding
                                    : Sharding::replicated(wish.sharding.mesh, type.shape.size()),
                false};
      mine.sharding.unreduced.clear();
      type.sharding = mine.sharding;
      wishes_.push_back(std::move(mine));
    }
    wishes_[last.index] = wish;
    for (auto& [mesh, chooser] : choosers_) chooser->note_users();
    const std::vector<InstrId> steps = source_.region(scratch).instructions;
    for (const InstrId step : steps) HOSTIR_TRY(process(step, number));
    versions_.add(result, *versions_.primary(last));
    return {};
  }

  void emit(const Instruction& i, const OpChoice& choice, const Demand& demand) {
    Instruction made = i;
    made.results.clear();
    for (size_t o = 0; o < i.operands.size(); ++o) {
      made.operands[o].value = versions_.obtain(i.operands[o].value, choice.operands[o], demand);
    }
    for (size_t r = 0; r < i.results.size(); ++r) {
      const ValueId value = i.results[r];
      const Wish& wish = wishes_[value.index];
      const bool as_wished = !wish.fixed || wish.sharding == choice.results[r];
      TensorType type = tensor_type(source_, value);
      type.sharding = choice.results[r];
      std::string name = source_.value(value).name;
      if (!as_wished) name += choice.results[r].is_partial() ? "_partial" : "_before";
      const ValueId result = versions_.add_value(name, type);
      out_.value(result).span = source_.value(value).span;
      made.results.push_back(result);
      versions_.add(value, {result, choice.results[r]});
      if (choice.results[r].is_partial()) explain_partial(i, choice, r, demand);
    }
    out_.add_instruction(out_.body, std::move(made));
    for (size_t r = 0; r < i.results.size(); ++r) {
      const Wish& wish = wishes_[i.results[r].index];
      if (!wish.fixed || wish.sharding == choice.results[r]) continue;
      const Demand annotation{"its annotation", demand.number};
      versions_.obtain(i.results[r], wish.sharding, annotation, source_.value(i.results[r]).name);
      versions_.prefer_last(i.results[r]);
    }
  }

  // Explains why each rank has only an addend: operands are cut along the summed dimension or are
  // already partial.
  void explain_partial(const Instruction& i, const OpChoice& choice, size_t r,
                       const Demand& demand) {
    const AxisList& axes = choice.results[r].unreduced;
    std::string cut, partial;
    for (size_t o = 0; o < i.operands.size(); ++o) {
      const Sharding& held = choice.operands[o];
      const auto has = [&](const AxisList& list) {
        return std::find(list.begin(), list.end(), axes.front()) != list.end();
      };
      const bool is_cut = std::any_of(held.dims.begin(), held.dims.end(),
                                      [&](const DimSharding& d) { return has(d.axes); });
      std::string& list = has(held.unreduced) ? partial : cut;
      if (!is_cut && !has(held.unreduced)) continue;
      list += (list.empty() ? "%" : " and %") + source_.value(i.operands[o].value).name;
    }
    versions_.explain_partial(
        i.results[r], choice.results[r],
        partial.empty()
            ? fmt::format("{} combines what is cut in {}, so every rank has a part of the result",
                          demand.by, cut.empty() ? "its operands" : cut)
            : fmt::format("{} keeps the addends of {}", demand.by, partial),
        demand);
  }

  void finish(const Instruction& i, uint32_t number) {
    Instruction made = i;
    const Demand demand{fmt::format("return at {}", address(source_, number)), number};
    for (size_t r = 0; r < i.operands.size(); ++r) {
      const ValueId value = i.operands[r].value;
      TensorType type = tensor_type(source_, value);
      type.sharding = sharding_of_result(r, value);
      made.operands[r].value = versions_.obtain(value, *type.sharding, demand);
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
  std::span<const std::string> keep_;
  Function out_;
  std::vector<Wish> wishes_;
  Versions versions_;
  std::map<std::string, std::unique_ptr<OpChooser>> choosers_;  // by mesh
};

}  // namespace

Expected<Resharded> insert_reshards(const Program& program, Function fusion, MeshMoves& moves,
                                    std::span<const std::string> keep, Explanation& explanation) {
  return Resharder(program, std::move(fusion), moves, keep, explanation).run();
}

}  // namespace hostir
