#include "hostir/passes/overlap/rings.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "hostir/ir/axes.h"
#include "hostir/ops/builder.h"
#include "hostir/ops/expand_composites.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

constexpr std::string_view kBalance = "balanced";

// Only causal ops have unequal work.
bool can_be_balanced(const Instruction& i) {
  return record(i.kind).expand_ring != nullptr &&
         find_attribute_spec(record(i.kind), kBalance) != nullptr &&
         i.attributes.get_or<bool>("causal", false) && !i.attributes.has(kBalance);
}

class RingFinder {
 public:
  RingFinder(const Program& program, const Function& fusion, const Function& propagated)
      : program_(program), fusion_(fusion), propagated_(propagated), uses_(uses_of(fusion)) {
    shardings_.resize(fusion.values.size());
    for (const Value& v : propagated.values) {
      const uint32_t index = v.origin.value.index;
      if (index < shardings_.size() && shardings_[index] == nullptr)
        shardings_[index] = sharding_of(v.type);
    }
    for (const InstrId id : body_of(fusion)) {
      if (record(fusion.instr(id).kind).expand_ring == nullptr) continue;
      if (std::string why = visit(id); !why.empty()) problems_.emplace(id, std::move(why));
    }
    while (drop_one()) {
    }
  }

  const std::map<InstrId, RingCut>& cuts() const { return cuts_; }
  void refuse(InstrId id, std::string why) {
    cuts_.erase(id);
    problems_[id] = std::move(why);
    while (drop_one()) {
    }
  }

  void explain(Explanation& explanation) const {
    for (const auto& [id, cut] : cuts_) {
      const Sharding& keys = cut.operands[1];
      add(id,
          fmt::format("{}ring of {} over {}",
                      fusion_.instr(id).attributes.has(kBalance) ? "balanced " : "", cut.parts,
                      axes_to_string(keys.dims[keys.dims.size() - 2].axes)),
          explanation);
    }
    for (const auto& [id, why] : problems_) add(id, "no ring: " + why, explanation);
  }

 private:
  void add(InstrId id, std::string sentence, Explanation& explanation) const {
    const Instruction& i = fusion_.instr(id);
    uint32_t number = 0;
    for (const InstrId other : body_of(fusion_)) {
      ++number;
      if (other == id) break;
    }
    explanation.push_back({fusion_.value(i.results.front()).name,
                           std::string(record(i.kind).mnemonic), std::move(sentence),
                           address(fusion_, number), "overlap"});
  }

  const Sharding* sharding_of_value(ValueId value) const { return shardings_[value.index]; }

  // Returns why the instruction cannot be a ring; empty if it can.
  std::string visit(InstrId id) {
    const Instruction& i = fusion_.instr(id);
    RingCut cut;
    for (const Operand& o : i.operands) {
      const Sharding* s = sharding_of_value(o.value);
      if (s == nullptr && cut.operands.size() < 2) return "nothing is known of its operands";
      cut.operands.push_back(s != nullptr ? *s : Sharding());
    }
    const Sharding& queries = cut.operands[0];
    const Sharding& keys = cut.operands[1];
    const Mesh* mesh = program_.find_mesh(queries.mesh);
    if (mesh == nullptr || keys.mesh != queries.mesh)
      return "its queries and keys are on different meshes";
    const DimSharding& rows = queries.dims[queries.dims.size() - 2];
    const DimSharding& columns = keys.dims[keys.dims.size() - 2];
    cut.parts = part_count(*mesh, columns.axes);
    if (cut.parts < 2) return "the length of its keys is not cut";
    if (rows.axes != columns.axes) return "queries and keys are cut over different axes";
    if (rows.has_blocks() || columns.has_blocks()) return "its parts are blocks";
    if (queries.is_partial() || keys.is_partial()) return "its operands are partial sums";
    cuts_.emplace(id, std::move(cut));
    return {};
  }

  // The ops that use or make a value that only rings can share.
  bool drop_one() {
    for (const auto& [id, cut] : cuts_) {
      const Instruction& i = fusion_.instr(id);
      const auto fits = [&, parts = cut.parts](InstrId other) {
        const auto found = cuts_.find(other);
        return found != cuts_.end() && found->second.parts == parts;
      };
      bool all = true;
      for (size_t r = 0; r < i.results.size(); ++r) {
        if (!record(i.kind).results[r].optional) continue;
        for (const InstrId user : uses_[i.results[r].index]) all = all && fits(user);
      }
      for (const Operand& o : i.operands) {
        const Value& value = fusion_.value(o.value);
        if (!value.defined_by.valid()) continue;
        const OpRecord& maker = record(fusion_.instr(value.defined_by).kind);
        const bool shares =
            maker.expand_ring != nullptr && maker.results[value.result_index].optional;
        all = all && (!shares || fits(value.defined_by));
      }
      if (all) continue;
      problems_.emplace(id, "an op that uses or makes its weights cannot be a ring");
      cuts_.erase(id);
      return true;
    }
    return false;
  }

  const Program& program_;
  const Function& fusion_;
  const Function& propagated_;
  std::vector<std::vector<InstrId>> uses_;
  std::vector<const Sharding*> shardings_;  // of the propagated values, by their Origin
  std::map<InstrId, RingCut> cuts_;
  std::map<InstrId, std::string> problems_;
};

}  // namespace

bool may_have_rings(const Function& fusion) {
  for (const InstrId id : fusion.preorder()) {
    if (record(fusion.instr(id).kind).expand_ring != nullptr) return true;
  }
  return false;
}

bool may_be_balanced(const Function& fusion) {
  const auto& all = fusion.instructions;
  return std::any_of(all.begin(), all.end(), can_be_balanced);
}

Expected<std::optional<Function>> with_rings(const Program& program, const Function& original,
                                             const Function& propagated, Rings rings,
                                             Explanation& explanation) {
  Function fusion = original;
  for (Instruction& i : fusion.instructions) {
    if (rings == Rings::kBalanced && can_be_balanced(i)) i.attributes.set(kBalance, true);
  }
  RingFinder found(program, fusion, propagated);
  while (!found.cuts().empty()) {
    InstrId at;
    bool refused = false;
    const auto wanted = [&](const Instruction& i) {
      if (i.results.empty()) return false;
      at = fusion.value(i.results.front()).defined_by;
      return found.cuts().count(at) != 0;
    };
    const auto expand = [&](ops::Builder& b) {
      std::vector<ValueId> made = record(b.call().kind).expand_ring(b, found.cuts().at(at));
      if (made.empty() && !refused) {
        refused = true;
        found.refuse(at,
                     "it has a mask, sizes that are not numbers, fewer keys than there are parts, "
                     "or is causal with blocks of queries and keys that differ in size");
      }
      return made.empty() ? record(b.call().kind).expand(b) : made;
    };
    HOSTIR_ASSIGN_OR_RETURN(Function made, replace_ops(fusion, wanted, expand));
    if (refused) continue;
    found.explain(explanation);
    return made;
  }
  found.explain(explanation);
  return std::nullopt;
}

}  // namespace hostir
