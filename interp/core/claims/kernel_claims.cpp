// Infers what a kernel computes from distributed values, op by op, and checks the result against
// the declared layouts.
//
// 1. Each parameter starts as its operand's layout says: cut along some dimensions, partial over
//    some axes, or unknown.
// 2. For each op, the sharding rule says which result dimensions stay cut. Summing over a cut
//    dimension makes the result partial. A partial value may be used only as the op's record
//    allows.
// 3. The returned values must match the layouts of the results.
// Nothing is claimed about unknown values (plain tensors, views, buffers filled by a recv or a
// permute).

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hostir/ops/partial_results.h"
#include "hostir/ops/record.h"
#include "interp/core/claims/claims.h"
#include "interp/core/claims/partial_claims.h"
#include "interp/core/communication_facts.h"

namespace hostir::interp::claims {

std::optional<Launch> launch_of(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  const auto* symbol = source.attributes.get<Symbol>("kernel");
  const Function* kernel = symbol == nullptr ? nullptr : code.program->find_function(symbol->name);
  if (kernel == nullptr || kernel->kind != FunctionKind::kKernel) return std::nullopt;
  Launch launch{code, index, c, source, *kernel, {}, {}};
  // Read-write operands come after the reads in `in`, and after the writes in `out`.
  for (const Access access : {Access::kRead, Access::kWrite, Access::kReadWrite}) {
    for (size_t o = 0; o < source.operands.size(); ++o) {
      if (source.operands[o].access != access) continue;
      if (access != Access::kWrite) launch.in.push_back(o);
      if (access != Access::kRead) launch.out.push_back(o);
    }
  }
  const bool fits =
      launch.in.size() == kernel->params.size() && launch.out.size() == kernel->results.size();
  return fits ? std::optional(std::move(launch)) : std::nullopt;
}

namespace {

using Cuts = std::vector<std::optional<AxisList>>;  // by dimension; nullopt: not known

/// What is known about a kernel value on the ranks that launch it.
struct Held {
  enum class Kind : uint8_t { kUnknown, kWhole, kPartial } kind = Kind::kUnknown;
  Reduction reduction = Reduction::kSum;
  AxisList axes;          // kPartial: at least over these
  std::string parameter;  // a launch operand it is computed from
  const Operand* from = nullptr;
  std::string made_by;        // kPartial: the op that sums over a cut dimension; empty: a parameter
  std::optional<size_t> sum;  // kPartial, in a plain buffer: its number among PlainSums
  bool as_given = false;      // a parameter, possibly with elements moved: not scaled
  Cuts cuts;                  // empty: not known
};

std::vector<Held> held_by_parameters(const Launch& launch, const std::vector<bool>& moved) {
  std::vector<Held> held(launch.kernel.values.size());
  for (size_t p = 0; p < launch.in.size(); ++p) {
    const ShardType* type = shard(launch.code, launch.c.layouts[launch.in[p]]);
    const Mesh* mesh =
        type == nullptr ? nullptr : launch.code.program->find_mesh(type->sharding->mesh);
    if (mesh == nullptr) continue;
    Held& h = held[launch.kernel.params[p].value.index];
    h.axes = cutting(*mesh, type->sharding->unreduced);
    h.kind = h.axes.empty() ? Held::Kind::kWhole : Held::Kind::kPartial;
    h.reduction = type->sharding->unreduced_kind;
    h.parameter = buffer_name(launch.code, launch.c, launch.in[p]);
    h.from = &launch.source.operands[launch.in[p]];
    h.as_given = true;
    const uint32_t reg = launch.c.operands[launch.in[p]];
    if (type->blocks || (reg < moved.size() && moved[reg])) continue;
    for (const DimSharding& d : type->sharding->dims) h.cuts.emplace_back(cutting(*mesh, d.axes));
  }
  return held;
}

std::string described(const Launch& launch, const Held& partial) {
  const std::string what =
      claim(partial.axes, partial.reduction) + (partial.sum ? ", which nothing has reduced" : "");
  if (partial.made_by.empty()) return fmt::format("{} is {}", partial.parameter, what);
  const bool adds = partial.reduction == Reduction::kSum;
  return fmt::format("{} in kernel @{} {} a dimension that {} cuts, so its result is {}",
                     partial.made_by, launch.kernel.name, adds ? "sums over" : "reduces",
                     text(partial.axes), what);
}

tl::unexpected<Error> misuse(const Launch& launch, const Held& partial, std::string_view what) {
  return contradiction(
      fmt::format("{}, and kernel @{} {}", described(launch, partial), launch.kernel.name, what),
      *partial.from);
}

/// How an op's operands cut the factors of its sharding rule; nullopt if that is unknown.
class Factors {
 public:
  Factors(const ShardingRule& rule, const Instruction& i, const std::vector<Held>& held)
      : rule_(rule), cut_(static_cast<size_t>(rule.factor_count())) {
    for (size_t o = 0; o < i.operands.size() && o < rule.operands.size(); ++o) {
      if (!i.operands[o].value.valid()) continue;
      const Cuts& cuts = held[i.operands[o].value.index].cuts;
      for (size_t d = 0; d < rule.operands[o].size(); ++d)
        add(rule.operands[o][d], d < cuts.size() ? cuts[d] : std::nullopt);
    }
  }

  Cuts of_result(size_t result) const {
    Cuts out;
    if (result >= rule_.results.size()) return out;
    for (const std::vector<int>& factors : rule_.results[result]) {
      std::optional<AxisList> axes = AxisList{};
      for (const int f : factors) {
        const std::optional<AxisList> part = of(f);
        // With several factors, the dimension is cut the same way only if just the first one is
        // cut.
        if (!part || (f != factors.front() && !part->empty())) axes.reset();
        if (axes && part) *axes = both(*axes, *part);
      }
      out.push_back(std::move(axes));
    }
    return out;
  }
  /// The axes over which a result of the op is a sum; nullopt: unknown.
  std::optional<AxisList> reduced(size_t result) const {
    AxisList out;
    for (const int f : rule_.reduction) {
      if (!leaves_partial(rule_, f, result)) continue;
      const std::optional<AxisList> axes = of(f);
      if (!axes) return std::nullopt;
      out = both(out, *axes);
    }
    return out;
  }

 private:
  struct Factor {
    bool seen = false;
    std::optional<AxisList> axes;
  };
  std::optional<AxisList> of(int factor) const {
    const Factor& f = cut_[static_cast<size_t>(factor)];
    return f.seen ? f.axes : std::optional(AxisList{});
  }
  void add(const std::vector<int>& factors, const std::optional<AxisList>& axes) {
    for (const int f : factors) {
      Factor& known = cut_[static_cast<size_t>(f)];
      const bool tells = axes && (factors.size() == 1 || axes->empty());
      if (!known.seen) {
        known = {true, tells ? axes : std::nullopt};
      } else if (!tells || known.axes != axes) {
        known.axes.reset();
      }
    }
  }

  const ShardingRule& rule_;
  std::vector<Factor> cut_;
};

// Accounts for the cut dimensions that an op sums over in its result `r`. `result` is what the op
// returns without them.
Expected<Held> with_cuts(const Launch& launch, const Instruction& i, const OpCall& call,
                         const std::vector<Held>& held, size_t r, Held result) {
  const OpRecord& op = record(i.kind);
  const bool sums = op.shape == OpShape::kContraction || op.shape == OpShape::kReduction;
  std::vector<Type> types;
  for (const ValueId value : i.results) types.push_back(launch.kernel.value(value).type);
  Expected<ShardingRule> rule = op.rule == nullptr
                                    ? Expected<ShardingRule>(tl::make_unexpected(Error{}))
                                    : op.rule(call, types);
  result.cuts.clear();
  result.as_given = op.shape == OpShape::kBroadcast;
  bool whole_as_given = true;
  for (const Operand& o : i.operands) {
    if (!o.value.valid()) continue;
    const Held& h = held[o.value.index];
    result.as_given = result.as_given && h.as_given;
    whole_as_given = whole_as_given && (h.as_given || h.kind != Held::Kind::kWhole);
    if (result.from != nullptr || h.from == nullptr) continue;
    result.from = h.from;
    result.parameter = h.parameter;
  }
  if (!rule) {
    if (sums && result.kind == Held::Kind::kWhole) result.kind = Held::Kind::kUnknown;
    return result;
  }
  const Factors factors(*rule, i, held);
  result.cuts = factors.of_result(r);
  const std::optional<AxisList> reduced = factors.reduced(r);
  if (!reduced && result.kind == Held::Kind::kWhole) result.kind = Held::Kind::kUnknown;
  if (!reduced || reduced->empty() || result.kind == Held::Kind::kUnknown) return result;
  if (result.kind == Held::Kind::kPartial && result.reduction != rule->reduction_kind) {
    result.kind = Held::Kind::kUnknown;
    return result;
  }
  if (result.from == nullptr) return result;
  result.kind = Held::Kind::kPartial;
  result.reduction = rule->reduction_kind;
  result.axes = both(result.axes, *reduced);
  result.made_by = op.mnemonic;
  const bool once = op.needs_expand != nullptr && op.needs_expand(call);
  // If an operand was scaled, the scaling may be a division by the number of ranks.
  if (once && whole_as_given && !one_rank_of_each_group(launch.code, launch.index, *reduced)) {
    return misuse(launch, result,
                  fmt::format("executes all of {} on every rank; move what must happen once (a "
                              "bias, the division of a mean) after the reduction",
                              op.mnemonic));
  }
  return result;
}

// Infers whether the results of one op are whole or partial, into `held`. Fails if the op cannot
// use a partial operand.
Expected<void> apply(const Launch& launch, const Instruction& i, std::vector<Held>& held) {
  const std::vector<Type> types = operand_types(launch.kernel, i);
  const OpCall call = {.kind = i.kind,
                       .operands = types,
                       .attributes = i.attributes,
                       .instruction = &i,
                       .function = &launch.kernel,
                       .program = launch.code.program.get(),
                       .written = {}};
  const OpRecord& op = record(i.kind);
  const auto of = [&](size_t o) -> const Held& { return held[i.operands[o].value.index]; };
  Held result;
  result.kind = Held::Kind::kWhole;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    if (!i.operands[o].value.valid() || of(o).kind == Held::Kind::kWhole) continue;
    if (of(o).kind == Held::Kind::kUnknown) {
      if (result.kind == Held::Kind::kWhole) result.kind = Held::Kind::kUnknown;
      continue;
    }
    const Held& partial = of(o);
    const PartialUse use = partial_use(call, o, partial.reduction);
    const bool rounds = op.shape == OpShape::kPointwise && i.attributes.has("to");  // a cast
    if (use == PartialUse::kReduceFirst && !rounds) {
      return misuse(launch, partial,
                    fmt::format("uses it in {}: {} of the parts is not {} of the whole; reduce it "
                                "first",
                                op.mnemonic, op.mnemonic, op.mnemonic));
    }
    for (size_t other = 0; other < i.operands.size(); ++other) {
      if (other == o || !i.operands[other].value.valid()) continue;
      const bool joined = partial_use(call, other, partial.reduction) == use;
      if (use == PartialUse::kAllAlike && joined && of(other).kind == Held::Kind::kWhole &&
          of(other).as_given && !one_rank_of_each_group(launch.code, launch.index, partial.axes)) {
        return misuse(
            launch, partial,
            fmt::format(
                "combines it in {} with a whole value, which every rank would add once more",
                op.mnemonic));
      }
      if (use == PartialUse::kOthersWhole && of(other).kind == Held::Kind::kPartial) {
        return misuse(launch, partial,
                      fmt::format("multiplies it in {} by another partial value", op.mnemonic));
      }
    }
    result = partial;
  }
  std::vector<Held> results;
  for (size_t r = 0; r < i.results.size(); ++r) {
    HOSTIR_ASSIGN_OR_RETURN(results.emplace_back(), with_cuts(launch, i, call, held, r, result));
  }
  for (size_t r = 0; r < i.results.size(); ++r) held[i.results[r].index] = std::move(results[r]);
  return {};
}

Expected<void> check_results(const Launch& launch, const Instruction& ret,
                             const std::vector<Held>& held) {
  for (size_t r = 0; r < launch.out.size() && r < ret.operands.size(); ++r) {
    const Held& h = held[ret.operands[r].value.index];
    const ShardType* type = shard(launch.code, after(launch.c, launch.out[r]));
    if (h.kind != Held::Kind::kPartial || type == nullptr) continue;
    const Sharding& to = *type->sharding;
    const Mesh* mesh = launch.code.program->find_mesh(to.mesh);
    AxisList held_over = h.axes, said_over = to.unreduced;
    if (mesh == nullptr || !claims::split_alike(*mesh, {&held_over, &said_over})) continue;
    const bool said = without(held_over, said_over).empty() && to.unreduced_kind == h.reduction;
    if (said) continue;
    const std::string made =
        h.made_by.empty() ? fmt::format("kernel @{} computes this from {}, which is {}",
                                        launch.kernel.name, h.parameter, claim(h.axes, h.reduction))
                          : described(launch, h);
    return contradiction(fmt::format("{}; the layout of {} says that it is {}", made,
                                     buffer_name(launch.code, launch.c, launch.out[r]),
                                     claim(to.unreduced, to.unreduced_kind)),
                         launch.source.operands[launch.out[r]]);
  }
  return {};
}

// Treats a kernel that declares a sharding rule as one op with that rule.
Expected<void> check_by_rule(const Launch& launch, std::vector<Held> held) {
  const Instruction& ret =
      launch.kernel.instr(launch.kernel.region(launch.kernel.body).instructions.back());
  Instruction whole;
  whole.kind = OpKind::apply;
  whole.attributes.set("callee", Symbol{launch.kernel.name});
  for (const Parameter& p : launch.kernel.params) whole.operands.push_back({.value = p.value});
  for (const Operand& o : ret.operands) whole.results.push_back(o.value);
  HOSTIR_TRY(apply(launch, whole, held));
  return check_results(launch, ret, held);
}

// Sums over cut dimensions in plain buffers, whose types cannot declare them, in text order.
class PlainSums {
 public:
  explicit PlainSums(const Code& code)
      : code_(code), aliases_(code), moved_(moved_buffers(code, aliases_)) {
    communicated_.assign(code.registers.size(), false);
    for (const CodeInstruction& c : code.instructions) {
      const CommunicationFacts* facts = communication_facts(c.kind);
      if (c.role != CodeRole::kInstruction || facts == nullptr || roots_input(*facts)) continue;
      for (const uint32_t reg : c.operands) {
        if (reg != kNoRegister) communicated_[aliases_.group(reg)] = true;
      }
    }
  }

  std::vector<PlainSum> all() {
    for (CodeIndex i = 0; i < code_.instructions.size(); ++i) {
      const CodeInstruction& c = code_.instructions[i];
      if (c.role != CodeRole::kInstruction) continue;
      if (c.call == kNoCode && record(c.kind).role == HostRole::kReturn) returned(i);
      const CommunicationFacts* facts = communication_facts(c.kind);
      if (facts != nullptr && roots_input(*facts)) given_to_all(i);
      if (const auto launch = launch_of(code_, i)) follow(*launch);
    }
    return std::move(out_);
  }
  /// After all(): launches that use such a sum as a whole value.
  const std::vector<Error>& misuses() const { return misuses_; }

 private:
  // True if the op copies the root's input to every member: an addend stays an addend.
  static bool roots_input(const CommunicationFacts& facts) {
    return facts.root == CommunicationFacts::RootHas::kInput;
  }

  void given_to_all(CodeIndex index) {
    const CodeInstruction& c = code_.instructions[index];
    if (c.comm == kNoComm) return;
    const AxisList& over = code_.communicators[c.comm].axes;
    for (const uint32_t reg : c.operands) {
      const auto found = reg == kNoRegister ? known_.end() : known_.find(aliases_.group(reg));
      if (found == known_.end()) continue;
      const AxisList& axes = found->second.axes;
      if (std::none_of(axes.begin(), axes.end(), [&](const AxisRef& a) {
            return std::any_of(over.begin(), over.end(),
                               [&](const AxisRef& b) { return a.name == b.name; });
          }))
        continue;
      PlainSum& sum = out_[*found->second.sum];
      if (sum.given_to_all == kNoCode) sum.given_to_all = index;
      if (sum.result.empty()) sum.result = code_.register_name(reg);
    }
  }

  void returned(CodeIndex index) {
    const CodeInstruction& c = code_.instructions[index];
    for (const uint32_t reg : c.operands) {
      if (reg == kNoRegister) continue;
      const auto found = known_.find(aliases_.group(reg));
      if (found == known_.end()) continue;
      out_[*found->second.sum].returned = index;
      out_[*found->second.sum].result = code_.register_name(reg);
    }
  }

  bool is_plain(const Launch& launch, size_t operand) const {
    return launch.c.operands[operand] != kNoRegister &&
           shard(code_, after(launch.c, operand)) == nullptr;
  }

  void follow(const Launch& launch) {
    const bool writes_plain =
        std::any_of(launch.out.begin(), launch.out.end(),
                    [&](size_t operand) { return is_plain(launch, operand); });
    if (!writes_plain && known_.empty()) return;
    std::vector<Held> held = held_by_parameters(launch, moved_);
    for (size_t p = 0; p < launch.in.size(); ++p) {
      const uint32_t reg = launch.c.operands[launch.in[p]];
      const auto found = reg == kNoRegister ? known_.end() : known_.find(aliases_.group(reg));
      if (found == known_.end()) continue;
      out_[*found->second.sum].readers.push_back(launch.index);
      Held& h = held[launch.kernel.params[p].value.index];
      h = found->second;
      h.parameter = buffer_name(code_, launch.c, launch.in[p]);
      h.from = &launch.source.operands[launch.in[p]];
    }
    // A maximum may be scaled if the factor is positive, which only the values show.
    const bool reads_sum = std::any_of(held.begin(), held.end(), [](const Held& h) {
      return h.sum && h.reduction == Reduction::kSum;
    });
    auto made = results_of(launch, std::move(held));
    if (!made && reads_sum) misuses_.push_back(made.error());
    const std::vector<Held> results = made.value_or(std::vector<Held>{});
    for (size_t r = 0; r < launch.out.size(); ++r) {
      if (!is_plain(launch, launch.out[r])) continue;
      const uint32_t group = aliases_.group(launch.c.operands[launch.out[r]]);
      known_.erase(group);
      if (r >= results.size() || results[r].kind != Held::Kind::kPartial || communicated_[group] ||
          one_rank_of_each_group(code_, launch.index, results[r].axes))
        continue;
      Held h = results[r];
      if (!h.made_by.empty()) {
        h.sum = out_.size();
        out_.push_back({launch.index,
                        claim(results[r].axes, results[r].reduction),
                        described(launch, results[r]),
                        {},
                        kNoCode,
                        kNoCode,
                        {}});
      }
      if (!h.sum) continue;  // it was declared partial
      h.made_by.clear();
      h.as_given = true;
      h.cuts.clear();
      known_[group] = std::move(h);
    }
  }

  // What is known of each result of the kernel; empty if the kernel is not analysed. An error if
  // the kernel uses a partial value as a whole one.
  static Expected<std::vector<Held>> results_of(const Launch& launch, std::vector<Held> held) {
    std::vector<Held> out;
    if (!launch.kernel.rule.empty()) return out;
    for (const InstrId id : launch.kernel.region(launch.kernel.body).instructions) {
      const Instruction& i = launch.kernel.instr(id);
      if (i.results.empty()) {
        for (const Operand& o : i.operands) out.push_back(held[o.value.index]);
        return out;
      }
      HOSTIR_TRY(apply(launch, i, held));
    }
    return out;
  }

  const Code& code_;
  const Aliases aliases_;
  const std::vector<bool> moved_;
  std::vector<bool> communicated_;  // by group of aliases
  std::map<uint32_t, Held> known_;  // by group of aliases
  std::vector<PlainSum> out_;
  std::vector<Error> misuses_;
};

}  // namespace

Expected<void> check_launch(const Code& code, CodeIndex index, const std::vector<bool>& moved) {
  const std::optional<Launch> launch = launch_of(code, index);
  if (!launch) return {};
  std::vector<Held> held = held_by_parameters(*launch, moved);
  const bool any = std::any_of(held.begin(), held.end(), [](const Held& h) {
    return h.kind == Held::Kind::kPartial ||
           std::any_of(h.cuts.begin(), h.cuts.end(), [](const auto& c) { return !c->empty(); });
  });
  if (!any) return {};
  if (!launch->kernel.rule.empty()) return check_by_rule(*launch, std::move(held));
  for (const InstrId id : launch->kernel.region(launch->kernel.body).instructions) {
    const Instruction& i = launch->kernel.instr(id);
    if (i.results.empty()) return check_results(*launch, i, held);
    HOSTIR_TRY(apply(*launch, i, held));
  }
  return {};
}

std::vector<Error> misused_plain_sums(const Code& code) {
  PlainSums sums(code);
  sums.all();
  return sums.misuses();
}

}  // namespace hostir::interp::claims

namespace hostir::interp {

std::vector<PlainSum> plain_sums(const Code& code) { return claims::PlainSums(code).all(); }

}  // namespace hostir::interp
