#include "hostir/passes/choose/gather_first.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hostir/ir/unique_names.h"
#include "hostir/passes/homes/fusion_price.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

constexpr double kWorthGatheringFirst =
    1.05;  // how many times less time the gathered operands must take

using ExpansionKey = std::pair<std::string, uint32_t>;  // a function and an instruction's number

Sharding without(Sharding s, const AxisList& axes) {
  const auto goes = [&](const AxisRef& a) { return contains(axes, a); };
  for (DimSharding& d : s.dims) {
    std::erase_if(d.axes, goes);
    if (d.axes.empty()) d = {};
  }
  std::erase_if(s.unreduced, goes);
  if (s.unreduced.empty()) s.unreduced_kind = Reduction::kSum;
  return s;
}

// The axes that a reshard gathers, if it does nothing else.
AxisList gathered_axes(const Sharding& from, const Sharding& to) {
  AxisList out;
  if (from.mesh != to.mesh || from.is_partial() || has_blocks(from)) return out;
  for (const DimSharding& d : from.dims) {
    for (const AxisRef& a : d.axes) {
      const auto stays = [&](const DimSharding& t) { return contains(t.axes, a); };
      if (!std::any_of(to.dims.begin(), to.dims.end(), stays)) out.push_back(a);
    }
  }
  return without(from, out) == to ? out : AxisList();
}

class GatherFirst {
 public:
  GatherFirst(const Program& program, const Function& bound, Function& made, MeshMoves& moves,
              const ValueNames& value_names, Explanation& explanation)
      : program_(program),
        bound_(bound),
        f_(made),
        moves_(moves),
        value_names_(value_names),
        explanation_(explanation),
        uses_(uses_of(f_)),
        sources_(bound.preorder()) {
    for (const InstrId id : body_of(f_)) place_.emplace(id, place_.size());
  }

  void run() {
    std::vector<InstrId> gathers;
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      if (is_terminator(i)) continue;
      if (i.kind == OpKind::reshard) {
        gathers.push_back(id);
      } else if (const auto key = key_of(i)) {
        groups_[*key].push_back(id);
        key_of_[id] = *key;
      }
    }
    for (const InstrId gather : gathers) {
      const InstrId by = f_.value(f_.instr(gather).operands.front().value).defined_by;
      const auto key = by.valid() ? key_of_.find(by) : key_of_.end();
      if (key != key_of_.end()) consider(key->second, gather);
    }
    insert_moves();
  }

 private:
  // Of an instruction that a composite was expanded to.
  std::optional<ExpansionKey> key_of(const Instruction& i) const {
    if (i.from.size() != 1 || i.from.front().number > sources_.size()) return std::nullopt;
    const OpRef& from = i.from.front();
    const Instruction& source = bound_.instr(sources_[from.number - 1]);
    if (record(source.kind).shape != OpShape::kComposite) return std::nullopt;
    return ExpansionKey(from.function, from.number);
  }

  // True if the user wants a result of the composite cut over one of the axes.
  bool is_annotated(const ExpansionKey& key, const AxisList& axes) const {
    const Instruction& source = bound_.instr(sources_[key.second - 1]);
    return std::any_of(source.results.begin(), source.results.end(), [&](ValueId r) {
      const Sharding* s = sharding_of(bound_.value(r).type);
      return s != nullptr && !(without(*s, axes) == *s);
    });
  }

  struct Group {
    std::set<InstrId> members;  // with the reshards between them
    std::set<ValueId> values;   // that they make
    std::set<ValueId> taken;    // that they take from elsewhere
    std::set<InstrId> leaving;  // reshards of `values` for others
    bool communicates = false;
  };

  // nullopt: somebody else needs a value as it is, or the group is on several meshes.
  std::optional<Group> group_of(const ExpansionKey& key, const AxisList& axes) const {
    Group g;
    g.members.insert(groups_.at(key).begin(), groups_.at(key).end());
    const auto is_member = [&](InstrId id) { return g.members.contains(id); };
    for (const InstrId id : groups_.at(key)) {
      for (const ValueId r : f_.instr(id).results) {
        for (const InstrId user : uses_[r.index]) {
          const Instruction& u = f_.instr(user);
          if (is_member(user) || u.kind != OpKind::reshard) continue;
          const std::vector<InstrId>& after = uses_[u.results.front().index];
          if (!after.empty() && std::all_of(after.begin(), after.end(), is_member)) {
            g.members.insert(user);
            g.communicates = true;
          }
        }
      }
    }
    for (const InstrId id : g.members) {
      const std::vector<ValueId>& results = f_.instr(id).results;
      g.values.insert(results.begin(), results.end());
    }
    for (const InstrId id : g.members) {
      for (const Operand& o : f_.instr(id).operands) {
        if (o.value.valid() && !g.values.contains(o.value)) g.taken.insert(o.value);
      }
    }
    for (const ValueId v : g.values) {
      const Sharding& held = sharding_at(f_, v);
      if (has_blocks(held)) return std::nullopt;
      const bool changes = !(without(held, axes) == held);
      for (const InstrId user : uses_[v.index]) {
        if (is_member(user)) continue;
        const Instruction& u = f_.instr(user);
        if (u.kind != OpKind::reshard) {
          if (changes) return std::nullopt;
          continue;
        }
        const Sharding& needed = sharding_at(f_, u.results.front());
        if (changes && !(without(needed, axes) == needed)) return std::nullopt;
        g.leaving.insert(user);
      }
    }
    for (const ValueId v : g.taken) {
      if (has_blocks(sharding_at(f_, v))) return std::nullopt;
    }
    const std::string& mesh = sharding_at(f_, *g.values.begin()).mesh;
    const auto is_on_it = [&](ValueId v) { return sharding_at(f_, v).mesh == mesh; };
    if (!std::ranges::all_of(g.values, is_on_it) || !std::ranges::all_of(g.taken, is_on_it))
      return std::nullopt;
    return g;
  }

  double ns_of(const Group& g) const {
    double out = 0;
    const auto add = [&](InstrId id) {
      const Instruction& i = f_.instr(id);
      if (i.kind != OpKind::reshard) {
        out += work_ns(program_, f_, i, moves_);
        return;
      }
      const TensorType& to = tensor_type(f_, i.results.front());
      out += moves_.cost_ns(to, sharding_at(f_, i.operands.front().value), *to.sharding);
    };
    std::for_each(g.members.begin(), g.members.end(), add);
    std::for_each(g.leaving.begin(), g.leaving.end(), add);
    return out;
  }

  void consider(const ExpansionKey& key, InstrId gather) {
    const Instruction& i = f_.instr(gather);
    const Sharding from = sharding_at(f_, i.operands.front().value);
    const AxisList axes = gathered_axes(from, sharding_at(f_, i.results.front()));
    if (axes.empty() || is_annotated(key, axes)) return;
    if (touched_.contains(groups_.at(key).front())) return;  // for other axes
    const std::optional<Group> g = group_of(key, axes);
    if (!g || !g->communicates) return;
    const double in_parts_ns = ns_of(*g);
    std::vector<std::pair<ValueId, Sharding>> before;
    double gathered_ns = 0;
    for (const ValueId v : g->taken) {
      const Sharding& held = sharding_at(f_, v);
      const Sharding to = without(held, axes);
      if (!existing(v, to, groups_.at(key).front()).valid())
        gathered_ns += moves_.cost_ns(tensor_type(f_, v), held, to);
      before.emplace_back(v, held);
      // Only for the price: insert_moves() makes a version for the group.
      tensor_type(f_, v).sharding = without(held, axes);
    }
    const size_t taken = before.size();
    for (const ValueId v : g->values) {
      before.emplace_back(v, sharding_at(f_, v));
      tensor_type(f_, v).sharding = without(sharding_at(f_, v), axes);
    }
    gathered_ns += ns_of(*g);
    const bool pays = gathered_ns * kWorthGatheringFirst < in_parts_ns;
    for (size_t b = 0; b < (pays ? taken : before.size()); ++b)
      tensor_type(f_, before[b].first).sharding = before[b].second;
    if (!pays) return;
    touched_.insert(g->members.begin(), g->members.end());
    touched_.insert(g->leaving.begin(), g->leaving.end());
    for (size_t b = 0; b < taken; ++b) {
      Sharding to = without(before[b].second, axes);
      if (to == before[b].second) continue;
      for (const InstrId id : g->members) wanted_[id].emplace_back(before[b].first, to);
    }
    explain(key, *g, gather, axes, gathered_ns, in_parts_ns);
  }

  void explain(const ExpansionKey& key, const Group& g, InstrId gather, const AxisList& axes,
               double gathered_ns, double in_parts_ns) {
    std::set<ValueId> explained;
    for (const ValueId v : g.values) explained.insert(f_.value(v).origin.value);
    explained.erase(ValueId());
    std::erase_if(explanation_, [&](const ExplainRecord& r) {
      return (r.pass == "reshard" || r.pass == "cut") && explained.contains(r.id.value);
    });
    const Value& moved = f_.value(f_.instr(gather).operands.front().value);
    const std::string at = fmt::format("@{}#{}", key.first, key.second);
    const Instruction& op = bound_.instr(sources_[key.second - 1]);
    explanation_.push_back(
        {.value = name_of(moved, value_names_),
         .what = "takes its operands without " + axes_to_string(axes),
         .sentence = fmt::format("the result of {} at {} is needed without; {} with moves and work",
                                 record(op.kind).mnemonic, at, time_text(gathered_ns)),
         .from = at,
         .pass = "reshard",
         .lost = {{"computed in parts and gathered", in_parts_ns, 0, time_text(in_parts_ns), {}}},
         .id = moved.origin});
  }

  // The version of `v` under `to` that exists before the instruction; invalid if there is none.
  ValueId existing(ValueId v, const Sharding& to, InstrId before) const {
    for (const InstrId user : uses_[v.index]) {
      const Instruction& u = f_.instr(user);
      if (u.kind == OpKind::reshard && place_.at(user) < place_.at(before) &&
          sharding_at(f_, u.results.front()) == to) {
        return u.results.front();
      }
    }
    return ValueId();
  }

  // Gives the groups their operands, and drops the reshards that change nothing any more.
  void insert_moves() {
    if (touched_.empty()) return;
    UniqueNames names(f_);
    std::map<std::pair<ValueId, std::string>, ValueId> made;
    std::map<ValueId, ValueId> same;
    std::vector<InstrId> body;
    for (const InstrId id : std::vector<InstrId>(body_of(f_))) {
      for (Operand& o : f_.instr(id).operands) {
        if (const auto at = same.find(o.value); at != same.end()) o.value = at->second;
      }
      const Instruction& i = f_.instr(id);
      if (touched_.contains(id) && i.kind == OpKind::reshard &&
          sharding_at(f_, i.operands.front().value) == sharding_at(f_, i.results.front())) {
        same.emplace(i.results.front(), i.operands.front().value);
        continue;
      }
      const auto at = wanted_.find(id);
      if (at != wanted_.end()) {
        for (const auto& [value, to] : at->second) {
          const auto is_it = [&, v = value](const Operand& o) { return o.value == v; };
          std::vector<Operand>& operands = f_.instr(id).operands;
          if (std::none_of(operands.begin(), operands.end(), is_it)) continue;
          ValueId& version = made[{value, to.to_string()}];
          if (!version.valid()) version = existing(value, to, id);
          if (!version.valid()) version = add_move(value, to, id, names, body);
          for (Operand& o : f_.instr(id).operands) {
            if (o.value == value) o.value = version;
          }
        }
      }
      body.push_back(id);
    }
    f_.region(f_.body).instructions = std::move(body);
  }

  ValueId add_move(ValueId value, const Sharding& to, InstrId user, UniqueNames& names,
                   std::vector<InstrId>& body) {
    const ValueId result =
        add_reshard(f_, value, to, user, names.fresh(f_.value(value).name + "_gathered"));
    body.push_back(f_.region(f_.body).instructions.back());
    return result;
  }

  const Program& program_;
  const Function& bound_;
  Function& f_;
  MeshMoves& moves_;
  const ValueNames& value_names_;
  Explanation& explanation_;
  std::vector<std::vector<InstrId>> uses_;
  std::vector<InstrId> sources_;     // by number in `bound`
  std::map<InstrId, size_t> place_;  // in the body
  std::map<ExpansionKey, std::vector<InstrId>> groups_;
  std::map<InstrId, ExpansionKey> key_of_;
  std::set<InstrId> touched_;  // of the groups to rewrite, and the reshards of their results
  std::map<InstrId, std::vector<std::pair<ValueId, Sharding>>> wanted_;  // operands to replace
};

}  // namespace

void gather_first(const Program& program, const Function& bound, Function& made, MeshMoves& moves,
                  const ValueNames& value_names, Explanation& explanation) {
  GatherFirst(program, bound, made, moves, value_names, explanation).run();
}

}  // namespace hostir
