#include "hostir/passes/prepare/shared_reductions.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/attribute_ids.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/hash.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

class ReductionSharer {
 public:
  ReductionSharer(Function fusion, std::span<const ValueId> keep)
      : f_(std::move(fusion)), keep_(keep), same_as_(f_.values.size()), uses_(f_.values.size(), 0) {
    for (size_t v = 0; v < same_as_.size(); ++v) same_as_[v] = ValueId(v);
  }

  Function run() {
    bool any = false;
    for (const InstrId id : body_of(f_)) {
      const Instruction& i = f_.instr(id);
      if (record(i.kind).shape == OpShape::kContraction)
        with_products_.insert(i.from.begin(), i.from.end());
    }
    for (const InstrId id : body_of(f_)) {
      Instruction& i = f_.instr(id);
      if (is_terminator(i)) break;
      const Instruction* earlier = equal_to(id);
      if (earlier == nullptr) continue;
      for (size_t r = 0; r < i.results.size(); ++r)
        same_as_[i.results[r].index] = same_as_[earlier->results[r].index];
      if (!can_be_dropped(i, *earlier)) continue;
      for (size_t r = 0; r < i.results.size(); ++r) taken_[i.results[r]] = earlier->results[r];
      any = true;
    }
    if (!any) return std::move(f_);
    count_uses();
    for (const InstrId id : body_of(f_)) {
      for (Operand& o : f_.instr(id).operands) {
        const auto taken = o.value.valid() ? taken_.find(o.value) : taken_.end();
        if (taken == taken_.end()) continue;
        --uses_[o.value.index];
        o.value = taken->second;
        ++uses_[o.value.index];
      }
    }
    drop_unused();
    return compacted(std::move(f_));
  }

 private:
  // The first instruction that computes the same.
  const Instruction* equal_to(InstrId id) {
    const Instruction& i = f_.instr(id);
    const OpShape shape = record(i.kind).shape;
    if (shape == OpShape::kLayout || !i.regions.empty()) return nullptr;
    size_t hash = static_cast<size_t>(i.kind);
    hash = hash_with(hash, hash_of(i.attributes));
    for (const Operand& o : i.operands)
      hash = hash_with(hash, o.value.valid() ? number(o.value) : 0);
    const auto [begin, end] = known_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
      const Instruction& other = f_.instr(at->second);
      if (are_equal(i, other)) return &other;
    }
    known_.emplace(hash, id);
    return nullptr;
  }

  uint32_t number(ValueId v) const { return same_as_[v.index].index; }

  bool are_equal(const Instruction& a, const Instruction& b) const {
    const auto same_operand = [&](const Operand& x, const Operand& y) {
      return x.slot == y.slot && x.value.valid() == y.value.valid() &&
             (!x.value.valid() || number(x.value) == number(y.value));
    };
    const auto same_type = [&](ValueId x, ValueId y) {
      return dtype_of(f_.value(x).type) == dtype_of(f_.value(y).type) &&
             shape_of(f_.value(x).type) == shape_of(f_.value(y).type);
    };
    return a.kind == b.kind && a.attributes == b.attributes &&
           std::ranges::equal(a.operands, b.operands, same_operand) &&
           std::ranges::equal(a.results, b.results, same_type);
  }

  bool can_be_dropped(const Instruction& i, const Instruction& earlier) const {
    if (record(i.kind).shape != OpShape::kReduction) return false;
    for (const OpRef& from : i.from) {
      if (with_products_.contains(from)) return false;
    }
    for (size_t r = 0; r < i.results.size(); ++r) {
      const Value& value = f_.value(i.results[r]);
      const Sharding* own = sharding_of(value.type);
      const Sharding* other = sharding_of(f_.value(earlier.results[r]).type);
      const bool same = own == nullptr ? other == nullptr : other != nullptr && *own == *other;
      if (!same || contains(keep_, value.origin.value)) return false;
    }
    return true;
  }

  void count_uses() {
    for (const InstrId id : body_of(f_)) {
      for (const Operand& o : f_.instr(id).operands) {
        if (o.value.valid()) ++uses_[o.value.index];
      }
    }
    was_used_.assign(uses_.size(), false);
    for (size_t v = 0; v < uses_.size(); ++v) was_used_[v] = uses_[v] != 0;
  }

  void drop_unused() {
    std::vector<InstrId>& body = f_.region(f_.body).instructions;
    std::vector<InstrId> kept;
    for (auto id = body.rbegin(); id != body.rend(); ++id) {
      const Instruction& i = f_.instr(*id);
      const auto stays = [&](ValueId r) {
        return uses_[r.index] != 0 || !was_used_[r.index] ||
               contains(keep_, f_.value(r).origin.value);
      };
      if (is_terminator(i) || std::ranges::any_of(i.results, stays)) {
        kept.push_back(*id);
        continue;
      }
      for (const Operand& o : i.operands) {
        if (o.value.valid()) --uses_[o.value.index];
      }
    }
    body.assign(kept.rbegin(), kept.rend());
  }

  Function f_;
  std::span<const ValueId> keep_;
  std::vector<ValueId> same_as_;  // by value: the first one with the same elements
  std::unordered_multimap<size_t, InstrId> known_;
  std::set<OpRef> with_products_;     // composites, such as attention
  std::map<ValueId, ValueId> taken_;  // by result of a dropped reduction: the earlier one
  std::vector<size_t> uses_;          // by value
  std::vector<bool> was_used_;        // by value: before reductions were dropped
};

}  // namespace

Function with_shared_reductions(Function fusion, std::span<const ValueId> keep) {
  return ReductionSharer(std::move(fusion), keep).run();
}

}  // namespace hostir
