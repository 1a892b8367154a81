#include "hostir/ops/unroll_loops.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/ir/unique_names.h"
#include "hostir/ops/bind_function.h"
#include "hostir/ops/builder.h"
#include "hostir/ops/loops.h"

namespace hostir {

namespace {

constexpr size_t kMostInstructions = 200'000;

bool is_zero(const Instruction& i) {
  const auto* value = i.attributes.get<double>("value");
  return i.kind == OpKind::constant && value != nullptr && *value == 0;
}

class Unroller {
 public:
  explicit Unroller(const Function& source)
      : source_(source),
        out_(with_empty_body(source)),
        names_(source),
        builder_(out_, out_.body, [this](std::string_view stem) { return names_.fresh(stem); }),
        now_(source.values.size()),
        is_argument_(source.values.size(), false) {
    out_.values.clear();
    for (Parameter& p : out_.params) {
      const Value& value = source.value(p.value);
      const ValueId made = out_.add_value(value.name, value.type);
      out_.value(made).span = value.span;
      now_[p.value.index] = Here{.value = made};
      p.value = made;
    }
    for (const Region& region : source.regions) {
      for (const ValueId argument : region.arguments) is_argument_[argument.index] = true;
    }
  }

  Expected<Unrolled> run() {
    HOSTIR_TRY(write(source_.region(source_.body)));
    drop_unused_zeros();
    return Unrolled{compacted(std::move(out_)), std::move(values_)};
  }

 private:
  // A value here: itself, or the parts of a stacked result that nothing has needed as a whole.
  struct Here {
    ValueId value;
    std::vector<ValueId> parts;
    Type type = NoType{};  // of the whole
    std::string name;
    const Instruction* loop = nullptr;  // of a stacked result
  };

  IndexExpr::Lookup variables() const {
    return [this](const IndexExpr& leaf) -> std::optional<int64_t> {
      if (leaf.kind() != IndexExpr::Kind::kName) return std::nullopt;
      const auto at = index_.find(leaf.symbol());
      return at == index_.end() ? std::nullopt : std::optional(at->second);
    };
  }

  Expected<void> write(const Region& region) {
    for (const InstrId id : region.instructions) {
      const Instruction& i = source_.instr(id);
      const HostRole role = record(i.kind).role;
      if (role == HostRole::kYield) break;
      if (role == HostRole::kLoop) {
        HOSTIR_TRY(write_loop(i));
      } else {
        copy(i);
      }
      if (builder_.error()) return tl::unexpected(*builder_.error());
      if (out_.instructions.size() > kMostInstructions) {
        return fail_at(ErrorKind::kInvalid, "loop_size",
                       fmt::format("the loops of @{} are written out pass by pass, which gives "
                                   "more than {} instructions",
                                   source_.name, kMostInstructions),
                       i.name_span);
      }
    }
    return {};
  }

  Expected<int64_t> bound(const Instruction& loop, std::string_view name) const {
    const IndexExpr e = loop.attributes.get<IndexExpr>(name)->simplified(variables());
    if (e.is_const()) return e.value();
    std::string unknown;
    e.for_each_leaf([&](const IndexExpr& leaf) { unknown = leaf.symbol(); });
    return fail_at(ErrorKind::kInvalid, "loop_size",
                   fmt::format("the {} bound of the loop is {}, but its passes are written out: "
                               "bind the size, as in --size {}=8",
                               name, e.to_string(), unknown),
                   loop.name_span);
  }

  Expected<void> write_loop(const Instruction& loop) {
    HOSTIR_ASSIGN_OR_RETURN(const int64_t lower, bound(loop, "lower"));
    HOSTIR_ASSIGN_OR_RETURN(const int64_t upper, bound(loop, "upper"));
    const Region& region = source_.region(loop.regions.front());
    const Instruction& yield = source_.instr(region.instructions.back());
    const bool reversed = loop.attributes.has("order");
    std::vector<ValueId> carried;
    for (const Operand& o : loop.operands) carried.push_back(whole(o.value));
    std::vector<std::vector<ValueId>> stacks(yield.operands.size() - carried.size());
    const std::string& variable = source_.value(region.arguments.front()).name;
    pass_.push_back(0);
    for (int64_t n = lower; n < upper; ++n) {
      pass_.back() = reversed ? upper - 1 - (n - lower) : n;
      index_[variable] = pass_.back();
      for (size_t c = 0; c < carried.size(); ++c) {
        now_[region.arguments[c + 1].index] = Here{.value = carried[c]};
        note(region.arguments[c + 1]);
      }
      HOSTIR_TRY(write(region));
      for (size_t c = 0; c < carried.size(); ++c) carried[c] = whole(yield.operands[c].value);
      for (size_t s = 0; s < stacks.size(); ++s)
        stacks[s].push_back(whole(yield.operands[carried.size() + s].value));
    }
    index_.erase(variable);
    pass_.pop_back();
    for (size_t r = 0; r < loop.results.size(); ++r) {
      const ValueId result = loop.results[r];
      if (r < carried.size()) {
        now_[result.index] = Here{.value = carried[r]};
        note(result);
        continue;
      }
      std::vector<ValueId>& parts = stacks[r - carried.size()];
      if (reversed) std::reverse(parts.begin(), parts.end());
      Type type = source_.value(result).type;
      bind_type(type, variables());
      now_[result.index] = Here{.parts = std::move(parts),
                                .type = std::move(type),
                                .name = name_here(result),
                                .loop = &loop};
    }
    return {};
  }

  // The name of a value of the text in this pass.
  std::string name_here(ValueId value) {
    std::string out = source_.value(value).name;
    if (pass_.empty()) return out;
    for (const int64_t index : pass_) out += fmt::format(".{}", index);
    return names_.fresh(out);
  }

  // Notes what a value of the text is here.
  void note(ValueId value) {
    const ValueId here = now_[value.index].value;
    if (here.valid()) values_.push_back({source_.value(value).name, pass_, out_.value(here).name});
  }

  // The value as a whole: joins the parts of a stack.
  ValueId whole(ValueId source) {
    Here& here = now_[source.index];
    if (here.value.valid() || std::holds_alternative<NoType>(here.type)) return here.value;
    const Shape& shape = shape_of(here.type);
    builder_.begin(*here.loop, here.name);
    if (here.parts.empty()) {
      here.value = builder_.full(dtype_of(here.type), shape, 0);
    } else {
      Shape one = shape;
      one.front() = 1;
      ops::Values rows;
      for (const ValueId part : here.parts) rows.push_back(builder_.reshape(part, one));
      here.value = builder_.concat(std::move(rows), 0);
    }
    if (!here.value.valid()) return {};
    out_.value(here.value).name = here.name;
    return here.value;
  }

  // `at` of a stack is the value that a pass yielded; false if there is more to do than that.
  bool take_part(const Instruction& i) {
    if (i.kind != OpKind::at || sharding_of(source_.value(i.results.front()).type)) return false;
    const ValueId stack = i.operands.front().value;
    const Here& here = now_[stack.index];
    const auto* index = i.attributes.get<ExprList>("index");
    if (here.parts.empty() || index->size() != 1) return false;
    const IndexExpr n = index->front().simplified(variables());
    const int64_t position = n.is_const() ? n.value() : -1;
    if (position < 0 || static_cast<size_t>(position) >= here.parts.size()) return false;
    now_[i.results.front().index] = Here{.value = here.parts[static_cast<size_t>(position)]};
    return true;
  }

  // 0 + x is x where a loop adds up.
  bool skip_first_sum(const Instruction& i) {
    if (i.kind != OpKind::add || sharding_of(source_.value(i.results.front()).type)) return false;
    for (size_t o = 0; o < 2; ++o) {
      const ValueId sum = i.operands[o].value;
      const ValueId here = now_[sum.index].value;
      if (!is_argument_[sum.index] || !here.valid() || !out_.value(here).defined_by.valid())
        continue;
      if (!is_zero(out_.instr(out_.value(here).defined_by))) continue;
      zeros_.insert(here);
      now_[i.results.front().index] = now_[i.operands[1 - o].value.index];
      return true;
    }
    return false;
  }

  void copy(const Instruction& i) {
    if (!pass_.empty() && (take_part(i) || skip_first_sum(i))) return note(i.results.front());
    Instruction made = i;
    for (Operand& o : made.operands) o.value = whole(o.value);
    if (!pass_.empty()) {
      bind_attributes(made, variables());
      if (pass_ != std::vector<int64_t>(pass_.size(), 0)) made.comments = {};
    }
    for (ValueId& r : made.results) {
      const ValueId source = r;
      const Value& value = source_.value(source);
      Type type = value.type;
      if (!pass_.empty()) bind_type(type, variables());
      r = out_.add_value(name_here(source), std::move(type));
      out_.value(r).span = value.span;
      now_[source.index] = Here{.value = r};
      if (!pass_.empty()) note(source);
    }
    out_.add_instruction(out_.body, std::move(made));
  }

  void drop_unused_zeros() {
    std::vector<bool> used(out_.values.size(), false);
    for (const Instruction& i : out_.instructions) {
      for (const Operand& o : i.operands) used[o.value.index] = true;
    }
    std::erase_if(out_.region(out_.body).instructions, [&](InstrId id) {
      const std::vector<ValueId>& made = out_.instr(id).results;
      return made.size() == 1 && zeros_.contains(made.front()) && !used[made.front().index];
    });
  }

  const Function& source_;
  Function out_;
  UniqueNames names_;
  ops::Builder builder_;
  std::vector<Here> now_;                              // by value of the source
  std::vector<bool> is_argument_;                      // of a region, by value of the source
  std::set<ValueId> zeros_;                            // from which sums started
  std::map<std::string, int64_t, std::less<>> index_;  // of the loops around
  std::vector<int64_t> pass_;
  std::vector<LoopValue> values_;
};

}  // namespace

Expected<Unrolled> unroll_loops(const Function& fusion) {
  if (!has_loops(fusion)) return Unrolled{fusion, {}};
  HOSTIR_ASSIGN_OR_RETURN(const Function counted, without_conditions(fusion));
  return Unroller(counted).run();
}

std::vector<std::string> names_in_passes(const std::vector<LoopValue>& values,
                                         const std::string& value, std::optional<int64_t> index) {
  std::vector<std::string> out;
  for (const LoopValue& v : values) {
    if (v.value != value) continue;
    if (index && (v.pass.empty() || v.pass.back() != *index)) continue;
    if (std::find(out.begin(), out.end(), v.name) == out.end()) out.push_back(v.name);
  }
  return out;
}

}  // namespace hostir
