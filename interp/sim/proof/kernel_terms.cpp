#include "interp/sim/proof/kernel_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/box_text.h"
#include "hostir/ops/partial_results.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/sim/proof/element_moves.h"
#include "interp/sim/proof/op_forms.h"

namespace hostir::sim::proof {

namespace {

using kernels::BoundKernel;

class Evaluation {
 public:
  Evaluation(Algebra& algebra, MovedValues& moved, Side side, const Program& program,
             const BoundKernel& kernel, std::vector<Tokens>& values)
      : a_(algebra),
        moved_(moved),
        program_(program),
        kernel_(kernel),
        values_(algebra, moved, side, kernel, values),
        forms_(algebra, program, kernel) {}

  void run() {
    const Function& f = *kernel_.function;
    if (!f.rule.empty()) return run_by_rule();
    for (const InstrId id : f.region(f.body).instructions) {
      const Instruction& i = f.instr(id);
      if (i.kind == OpKind::broadcast_in_dim) {
        deferred_[i.results.front().index] = &i;
        continue;
      }
      compute_deferred(i);
      if (!i.results.empty()) compute(i);
    }
  }

  std::set<std::string> take_rules() { return std::move(rules_); }

 private:
  void run_by_rule() {
    const Function& f = *kernel_.function;
    Instruction whole;
    whole.kind = OpKind::apply;
    whole.attributes.set("callee", Symbol{f.name});
    for (const Parameter& p : f.params) whole.operands.push_back({.value = p.value});
    for (const Operand& o : kernels::returned_values(f)) whole.results.push_back(o.value);
    compute(whole);
  }

  // Computes the broadcasts that an op reads. A kernel for some rows, or for a rank's part, repeats
  // its operand less often than the whole kernel does. The element that a broadcast meets in a
  // pointwise op shows which rows the kernel computes.
  void compute_deferred(const Instruction& user) {
    std::optional<Block> beside;
    for (const Operand& o : user.operands) {
      const bool known = o.value.valid() && deferred_.count(o.value.index) == 0;
      if (!known || record(user.kind).shape != OpShape::kPointwise || beside) continue;
      std::string why;
      beside = values_.block_of(o.value, why);
      if (!why.empty() || beside->is_free) beside.reset();
    }
    for (const Operand& o : user.operands) {
      const auto at = o.value.valid() ? deferred_.find(o.value.index) : deferred_.end();
      if (at == deferred_.end()) continue;
      const Instruction& i = *at->second;
      deferred_.erase(at);
      compute_deferred(i);
      if (!beside || !broadcast_beside(i, *beside)) compute(i);
    }
  }

  // Gives the result the place of another block, if that agrees with the operand's place.
  bool broadcast_beside(const Instruction& i, const Block& beside) {
    std::string why;
    const Block own = values_.block_of(i.operands.front().value, why);
    const auto* dims = i.attributes.get<IntList>("dims");
    if (!why.empty() || own.is_free || dims == nullptr) return false;
    const Extents& from = *a_.shape(a_.state(own.state).form);
    const Extents shape = *a_.shape(a_.state(beside.state).form);
    if (beside.box.extents() != values_.placement(i.results.front()).local()) return false;
    for (size_t d = 0; d < dims->size(); ++d) {
      const auto to = static_cast<size_t>((*dims)[d]);
      const bool same = from[d] == shape[to] && own.box.lo[d] == beside.box.lo[to] &&
                        own.box.hi[d] == beside.box.hi[to];
      if (!same) return false;
    }
    values_.put(i.results.front(), shape, beside.box,
                forms_.state_of(i, {own.state}, 0, shape, {}, Reduction::kSum));
    return true;
  }

  void compute(const Instruction& i) {
    const OpRecord& op = record(i.kind);
    if (op.shape == OpShape::kLayout) return move(i);
    if (op.shape == OpShape::kPointwise) return pointwise(i);
    if (i.kind == OpKind::constant && constant(i)) return;
    if (move_elements(a_, values_, i)) return;
    if (add_running_sums(a_, moved_, values_, i)) return;
    by_rule(i);
  }

  void fail(const Instruction& i, State::Kind kind, const std::string& why) {
    for (const ValueId r : i.results) values_.fill(r, Token::of(a_.failed(kind, why), 0));
  }

  // reshard, pack, unpack: the same elements in other places. The tokens are row-major over the
  // box.
  void move(const Instruction& i) {
    const ValueId from = i.operands.front().value;
    const ValueId to = i.results.front();
    const Box& source = values_.placement(from).box;
    const Box& target = values_.placement(to).box;
    const Sharding* sharding = sharding_of(kernel_.function->value(to).type);
    const Reduction kind = sharding != nullptr ? sharding->unreduced_kind : Reduction::kSum;
    Tokens& out = values_[to];
    out.clear();
    const int64_t count = target.volume();
    for (int64_t e = 0; e < count; ++e) {
      const std::vector<int64_t> at = target.index_at(e);
      const int64_t in = offset_in(source, at);
      if (in < 0 && sharding != nullptr && sharding->is_partial()) {
        out.push_back(Token::of(Algebra::identity(kind), 0));  // another rank has the element
        continue;
      }
      if (in < 0) {
        out.push_back(Token::of(a_.failed(State::Kind::kUnknown, "elements that no rank sent"), 0));
        continue;
      }
      Token t = values_[from][static_cast<size_t>(in)];
      if (kernel_.holds_identity(to)) t = Token::of(a_.emptied(t.state(), kind), t.index());
      out.push_back(t);
    }
  }

  bool constant(const Instruction& i) {
    const auto* value = i.attributes.find("value");
    std::optional<double> number;
    if (const auto* d = value ? std::get_if<double>(value) : nullptr) number = *d;
    if (const auto* n = value ? std::get_if<int64_t>(value) : nullptr)
      number = static_cast<double>(*n);
    const auto* size = i.attributes.get<IndexExpr>("size");
    if (size != nullptr && size->is_const()) number = static_cast<double>(size->value());
    if (const auto* b = value ? std::get_if<bool>(value) : nullptr) number = *b ? 1 : 0;
    if (!number) return false;
    // Forms keep ten digits, so larger integers become separate nodes.
    if (!is_float(values_.placement(i.results.front()).dtype) && std::fabs(*number) >= 1e9)
      return false;
    const FormId form = a_.scaled(a_.of_node(Algebra::kOne), *number);
    values_.fill(i.results.front(),
                 Token::of(a_.whole(*number == 0 ? Algebra::kZeroForm : form), 0));
    return true;
  }

  // ---- pointwise ----

  // Elements of other places, and parts of running sums, are taken as elements of the value that
  // the operand is.
  void pointwise(const Instruction& i) {
    const ValueId result = i.results.front();
    const auto count = static_cast<size_t>(values_.placement(result).box.volume());
    std::vector<Tokens> in;
    for (const Operand& o : i.operands) {
      in.push_back(values_[o.value]);
      if (in.back().size() != count)
        return fail(i, State::Kind::kUnknown, "operands of different sizes");
    }
    std::vector<Tokens> blocks;  // the operands' tokens as blocks, once needed
    const auto as_blocks = [&]() -> const std::vector<Tokens>& {
      for (size_t o = blocks.size(); o < in.size(); ++o)
        blocks.push_back(values_.in_block(i.operands[o].value));
      return blocks;
    };
    const bool is_random = i.attributes.find("seed") != nullptr;
    Tokens& out = values_[result];
    out.resize(count);
    Memo memo;
    for (size_t e = 0; e < count; ++e) {
      Token made = element(i, is_random ? as_blocks() : in, e, memo);
      if (a_.state(made.state()).kind != State::Kind::kKnown) {
        const Token again = element(i, as_blocks(), e, memo);
        if (a_.state(again.state()).kind == State::Kind::kKnown) made = again;
      }
      out[e] = made;
    }
  }

  struct Memo {
    std::vector<StateId> operands;
    Extents shape;
    StateId made = 0;
    bool is_set = false;
  };

  Token element(const Instruction& i, const std::vector<Tokens>& in, size_t e, Memo& memo) {
    std::vector<StateId> states;
    std::optional<size_t> first;  // the operand that says which element it is
    int64_t index = 0;
    Extents shape = values_.placement(i.results.front()).global;
    for (const Tokens& tokens : in) {
      const Token t = tokens[e];
      states.push_back(t.state());
      if (values_.is_free(t.state())) continue;
      const Extents& own = *a_.shape(a_.state(t.state()).form);
      if (first && (index != t.index() || shape != own))
        return Token::of(mixed(i, states[*first], index, t.state(), t.index(), shape == own), 0);
      first = states.size() - 1;
      index = t.index();
      shape = own;
    }
    if (i.attributes.find("seed") != nullptr) {  // its result depends on the layout
      const Placement& p = values_.placement(i.results.front());
      const int64_t here = offset_in(Box::whole(p.global), p.box.index_at(static_cast<int64_t>(e)));
      if (first && (shape != p.global || index != here)) {
        const std::string why = fmt::format("{} of elements that are not where the layout says",
                                            record(i.kind).mnemonic);
        return Token::of(a_.failed(State::Kind::kUnknown, why), 0);
      }
      index = here;
    }
    if (!memo.is_set || states != memo.operands || shape != memo.shape)
      memo = {states, shape, forms_.state_of(i, states, 0, shape, {}, Reduction::kSum), true};
    return Token::of(memo.made, values_.is_free(memo.made) ? 0 : index);
  }

  StateId mixed(const Instruction& i, StateId x, int64_t x_index, StateId y, int64_t y_index,
                bool same_shape) {
    const Extents* shape = a_.shape(a_.state(y).form);
    const Box whole = Box::whole(*shape);
    const std::string second = index_text(whole.index_at(y_index));
    const std::string first = same_shape ? index_text(whole.index_at(x_index)) : "another";
    return a_.failed(
        same_shape ? State::Kind::kWrong : State::Kind::kUnknown,
        fmt::format("{} combines element {} of {} with element {} of {}", record(i.kind).mnemonic,
                    first, a_.describe_state(x), second, a_.describe_state(y)));
  }

  // ---- ops with a rule ----

  void by_rule(const Instruction& i) {
    const OpRecord& op = record(i.kind);
    std::vector<Block> blocks;
    std::vector<StateId> states;
    bool as_laid_out = true;
    for (const Operand& o : i.operands) {
      if (!o.value.valid()) return fail(i, State::Kind::kUnknown, "an operand is missing");
      std::string why;
      blocks.push_back(values_.block_of(o.value, why));
      if (!why.empty()) return fail(i, State::Kind::kUnknown, why);
      states.push_back(blocks.back().state);
      const Placement& p = values_.placement(o.value);
      if (blocks.back().is_free) continue;
      as_laid_out = as_laid_out && blocks.back().box == p.box &&
                    *a_.shape(a_.state(states.back()).form) == p.global;
    }
    if (op.rule == nullptr)
      return fail(i, State::Kind::kUnknown, fmt::format("{} has no rule", op.mnemonic));
    std::vector<Type> types;
    OpCall call = forms_.call_of(i, types);
    std::vector<Type> results;
    std::vector<Box> boxes;
    for (const ValueId r : i.results) {
      const Placement& p = values_.placement(r);
      Shape shape(p.global.begin(), p.global.end());
      results.emplace_back(TensorType{p.dtype, std::move(shape), std::nullopt});
      boxes.push_back(p.box);
    }
    call.written = results;
    if (!as_laid_out && !shift(i, call, blocks, types, results, boxes)) return;
    note_rule(i, blocks, results, boxes);
    const auto rule = op.rule(call, results);
    if (!rule) return fail(i, State::Kind::kUnknown, rule.error().message());
    std::vector<FormId> forms;
    for (const StateId s : states) forms.push_back(a_.state(s).form);
    for (size_t r = 0; r < i.results.size(); ++r) {
      std::vector<Cut> cuts;
      std::string why;
      if (!find_cuts(i, *rule, r, blocks, types, forms, cuts, why))
        return fail(i, State::Kind::kUnknown, why);
      Extents shape;
      for (const IndexExpr& e : shape_of(results[r])) shape.push_back(e.value());
      place(i, *rule, states, r, shape, boxes[r], cuts);
    }
  }

  // Notes a kernel with its own rule that is applied to parts: the proof then relies on the user's
  // rule.
  void note_rule(const Instruction& i, const std::vector<Block>& blocks,
                 const std::vector<Type>& results, const std::vector<Box>& boxes) {
    const auto* callee = i.kind == OpKind::apply ? i.attributes.get<Symbol>("callee") : nullptr;
    const Function* kernel = callee != nullptr ? program_.find_function(callee->name) : nullptr;
    if (kernel == nullptr || kernel->rule.empty()) return;
    bool whole = true;
    for (size_t o = 0; o < blocks.size(); ++o) {
      const Extents& shape = blocks[o].is_free ? values_.placement(i.operands[o].value).global
                                               : *a_.shape(a_.state(blocks[o].state).form);
      whole = whole && blocks[o].box == Box::whole(shape);
    }
    for (size_t r = 0; r < boxes.size(); ++r) {
      Extents shape;
      for (const IndexExpr& e : shape_of(results[r])) shape.push_back(e.value());
      whole = whole && boxes[r] == Box::whole(shape);
    }
    if (!whole) rules_.insert(callee->name);
  }

  void place(const Instruction& i, const ShardingRule& rule, const std::vector<StateId>& states,
             size_t r, const Extents& shape, const Box& box, const std::vector<Cut>& cuts) {
    const ValueId value = i.results[r];
    // No operand elements: an empty part of a sum contributes nothing.
    const bool from_nothing =
        !i.operands.empty() &&
        std::any_of(i.operands.begin(), i.operands.end(),
                    [&](const Operand& o) { return values_[o.value].empty(); });
    const auto adds_up = [&](int factor) { return leaves_partial(rule, factor, r); };
    if (from_nothing && std::ranges::any_of(rule.reduction, adds_up))
      return values_.fill(value, Token::of(Algebra::identity(rule.reduction_kind), 0));
    const StateId state = from_nothing
                              ? a_.failed(State::Kind::kUnknown, "an op on an empty part")
                              : forms_.state_of(i, states, r, shape, cuts, rule.reduction_kind);
    values_.put(value, shape, box, state);
  }

  // The ranges of the dimensions summed in a result that the operands cover.
  bool find_cuts(const Instruction& i, const ShardingRule& rule, size_t result,
                 const std::vector<Block>& blocks, const std::vector<Type>& types,
                 const std::vector<FormId>& forms, std::vector<Cut>& cuts, std::string& why) {
    for (const int f : rule.reduction) {
      if (!leaves_partial(rule, f, result)) continue;
      std::optional<Range> range;
      for (size_t o = 0; o < rule.operands.size() && o < blocks.size(); ++o) {
        for (size_t d = 0; d < rule.operands[o].size(); ++d) {
          const auto& factors = rule.operands[o][d];
          if (!contains(factors, f)) continue;
          const Range own{blocks[o].box.lo[d], blocks[o].box.hi[d]};
          const int64_t extent = shape_of(types[o])[d].value();
          if (factors.size() > 1) {
            if (own == Range{0, extent}) continue;
            why = fmt::format("{} sums over a part of merged dimensions", record(i.kind).mnemonic);
            return false;
          }
          range = own;
        }
      }
      const int64_t extent = rule.factor_sizes[static_cast<size_t>(f)].simplified().value();
      if (!range || *range == Range{0, extent}) continue;
      const std::string key =
          fmt::format("{}({})#{}={}", key_of(i), fmt::join(forms, ","), f, extent);
      cuts.push_back({a_.reduction(key, extent), range->lo, range->hi});
    }
    return true;
  }

  // The operands are not the boxes in the layouts, or are parts of larger values: derives the
  // results by applying the op's rule to the actual boxes. False if that is not possible; the
  // results are then failed.
  bool shift(const Instruction& i, const OpCall& call, const std::vector<Block>& blocks,
             std::vector<Type>& types, std::vector<Type>& results, std::vector<Box>& boxes) {
    const OpRecord& op = record(i.kind);
    for (size_t o = 0; o < blocks.size(); ++o) {
      if (blocks[o].is_free) continue;
      const Extents& shape = *a_.shape(a_.state(blocks[o].state).form);
      std::get<TensorType>(types[o]).shape.assign(shape.begin(), shape.end());
    }
    auto inferred = op.infer == nullptr ? Expected<std::vector<Type>>(results) : op.infer(call);
    if (!inferred || i.attributes.has("shape")) {
      fail(i, State::Kind::kUnknown, moved_text(i, blocks));
      return false;
    }
    results = std::move(*inferred);
    const auto rule = op.rule(call, results);
    std::vector<std::optional<Range>> ranges(rule ? rule->factor_sizes.size() : 0);
    for (size_t o = 0; rule && o < blocks.size(); ++o) {
      if (blocks[o].is_free) continue;
      for (size_t d = 0; d < rule->operands[o].size(); ++d) {
        const auto& factors = rule->operands[o][d];
        const Range own{blocks[o].box.lo[d], blocks[o].box.hi[d]};
        const bool is_all = own == Range{0, shape_of(types[o])[d].value()};
        if (factors.size() != 1) {
          if (factors.empty() || is_all) continue;
          fail(i, State::Kind::kUnknown, moved_text(i, blocks));
          return false;
        }
        const auto f = static_cast<size_t>(factors.front());
        if (rule->must_replicate(factors.front()) && !is_all) {
          fail(i, State::Kind::kUnknown, moved_text(i, blocks));
          return false;
        }
        if (ranges[f] && *ranges[f] != own) {
          fail(i, State::Kind::kWrong,
               fmt::format("{} combines {}..{} of a dimension of one operand with {}..{} of the "
                           "other: {}",
                           op.mnemonic, ranges[f]->lo, ranges[f]->hi, own.lo, own.hi,
                           moved_text(i, blocks)));
          return false;
        }
        ranges[f] = own;
      }
    }
    for (size_t r = 0; rule && r < results.size(); ++r) {
      Box box;
      const Shape& shape = shape_of(results[r]);
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto& factors = rule->results[r][d];
        const auto known = factors.size() == 1 ? ranges[static_cast<size_t>(factors.front())]
                                               : std::optional<Range>();
        box.lo.push_back(known ? known->lo : 0);
        box.hi.push_back(known ? known->hi : shape[d].value());
      }
      if (box.volume() != values_.placement(i.results[r]).box.volume()) {
        fail(i, State::Kind::kUnknown, moved_text(i, blocks));
        return false;
      }
      boxes[r] = box;
    }
    if (!rule) fail(i, State::Kind::kUnknown, rule.error().message());
    return rule.has_value();
  }

  std::string moved_text(const Instruction& i, const std::vector<Block>& blocks) const {
    for (size_t o = 0; o < blocks.size(); ++o) {
      const Placement& p = values_.placement(i.operands[o].value);
      if (blocks[o].is_free || blocks[o].box == p.box) continue;
      if (*a_.shape(a_.state(blocks[o].state).form) != p.global) {
        return fmt::format(
            "kernel @{} treats {} of {} as a whole tensor, %{}, and the proof cannot follow it "
            "through {}",
            kernel_.function->name, to_string(blocks[o].box), a_.describe_state(blocks[o].state),
            kernel_.function->value(i.operands[o].value).name, record(i.kind).mnemonic);
      }
      return fmt::format("%{} of kernel @{} holds {} of {} where its layout says {}",
                         kernel_.function->value(i.operands[o].value).name, kernel_.function->name,
                         to_string(blocks[o].box), a_.describe_state(blocks[o].state),
                         to_string(p.box));
    }
    return fmt::format("{} in kernel @{} works on parts of larger values", record(i.kind).mnemonic,
                       kernel_.function->name);
  }

  Algebra& a_;
  MovedValues& moved_;
  const Program& program_;
  const BoundKernel& kernel_;
  KernelValues values_;
  OpForms forms_;
  std::set<std::string> rules_;
  std::map<uint32_t, const Instruction*> deferred_;  // by result: broadcasts that nothing has read
};

}  // namespace

std::set<std::string> evaluate(Algebra& algebra, MovedValues& moved, Side side,
                               const Program& program, const BoundKernel& kernel,
                               std::vector<Tokens>& values) {
  values.resize(kernel.values.size());
  Evaluation evaluation(algebra, moved, side, program, kernel, values);
  evaluation.run();
  return evaluation.take_rules();
}

}  // namespace hostir::sim::proof
