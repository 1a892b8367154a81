// Which values of the forward pass a gradient keeps, and which it computes again.
//
// A value is kept from its computation to its last use in the backward pass. An instruction with
// the attribute `recompute` is computed again before that use, from its operands; with `recompute`
// on a loop, all values of a pass are computed from those that it carries. Constants, and index
// maps of values from outside a loop, are always computed again: a stack of weights is not copied.
#include <algorithm>

#include "hostir/ops/differentiator.h"
#include "hostir/support/lists.h"

namespace hostir {

bool is_recomputed(const Instruction& instruction) {
  return instruction.attributes.get_or<bool>("recompute", false);
}

// Whether a value of the region is kept.
bool Differentiator::is_kept(const Again& again, ValueId copy) {
  const InstrId by = out().value(copy).defined_by;
  if (!by.valid()) return true;  // carried
  const Instruction& i = out().instr(by);
  if (out().instr(again.loop).attributes.has("backward") || is_recomputed(i)) return false;
  const OpShape shape = record(i.kind).shape;
  if (shape == OpShape::kSource) return false;
  if (shape != OpShape::kBroadcast && i.kind != OpKind::at) return true;
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& o) {
    return is_of_region(again, o.value) && is_kept(again, o.value);
  });
}

// True for the carried values and results of the copied region, not for those of loops in it.
bool Differentiator::is_of_region(const Again& again, ValueId value) {
  const InstrId by = out().value(value).defined_by;
  if (by.valid()) return contains(again.copies, by);
  const auto found = again.original.find(value);
  if (found == again.original.end()) return false;
  return contains(out().region(out().instr(again.loop).regions.front()).arguments, found->second);
}

ValueId Differentiator::original_of(Again& again, ValueId copy) {
  const auto known = again.original.find(copy);
  if (known != again.original.end()) return known->second;
  // A stack that only the copy of an inner loop makes, for its own gradient.
  const Value& value = out().value(copy);
  const InstrId loop = value.defined_by;
  const InstrId yield = out().region(out().instr(loop).regions.front()).instructions.back();
  const ValueId inner = out().instr(yield).operands[value.result_index].value;
  const ValueId original = stacked(again.loops.at(loop), original_of(again, inner));
  again.original[copy] = original;
  return original;
}

ValueId Differentiator::element_of_stack(Again& again, ValueId copy) {
  ValueId& element = again.elements[copy];
  if (element.valid()) return element;
  const ValueId original = original_of(again, copy);
  const ValueId stack = stacked(again.loop, original);
  if (!stack.valid()) return copy;
  ops::Builder& b = rebuild_.builder();
  b.begin(out().instr(again.loop), out().value(original).name);
  element = b.op(OpKind::at, {stack}, ops::attrs({{"index", ExprList{again.position}}}));
  return element;
}

void Differentiator::use_kept(Again& again, InstrId user, std::set<InstrId>& needed) {
  for (size_t o = 0; o < out().instr(user).operands.size(); ++o) {
    const ValueId value = out().instr(user).operands[o].value;
    if (!is_of_region(again, value)) continue;
    if (!is_kept(again, value)) {
      needed.insert(out().value(value).defined_by);
      continue;
    }
    const ValueId element = element_of_stack(again, value);
    out().instr(user).operands[o].value = element;
  }
  const std::vector<RegionId> regions = out().instr(user).regions;
  for (const RegionId region : regions) {
    const std::vector<InstrId> inside = out().region(region).instructions;
    for (const InstrId id : inside) use_kept(again, id, needed);
  }
}

void Differentiator::use_kept(Again& again) {
  enter(again.region);
  const std::vector<InstrId> before = out().region(again.region).instructions;
  std::set<InstrId> needed;
  std::vector<InstrId> kept;
  for (size_t n = before.size(); n-- > 0;) {
    if (contains(again.copies, before[n]) && !needed.contains(before[n])) continue;
    use_kept(again, before[n], needed);
    kept.push_back(before[n]);
  }
  std::vector<InstrId>& now = out().region(again.region).instructions;
  now.erase(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(before.size()));
  now.insert(now.end(), kept.rbegin(), kept.rend());
}

// Outside of loops: each marked value that the backward pass uses is computed before its first use
// there.
void Differentiator::recompute_marked(size_t forward_count) {
  const std::vector<InstrId> all = body();
  const std::set<InstrId> forward(all.begin(),
                                  all.begin() + static_cast<std::ptrdiff_t>(forward_count));
  std::vector<InstrId> now(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(forward_count));
  std::map<ValueId, ValueId> again;
  const auto recompute = [&](const auto& self, InstrId user) -> void {
    for (size_t o = 0; o < out().instr(user).operands.size(); ++o) {
      const ValueId value = out().instr(user).operands[o].value;
      const InstrId by = out().value(value).defined_by;
      if (!by.valid() || !forward.contains(by) || !is_recomputed(out().instr(by))) continue;
      if (!again.contains(value)) {
        Instruction copy = out().instr(by);
        for (ValueId& r : copy.results) {
          const Value of = out().value(r);
          const ValueId made = out().add_value(rebuild_.names().fresh(of.name), of.type);
          out().value(made).span = of.span;
          again[r] = made;
          r = made;
        }
        const InstrId made = out().add_instruction(out().body, std::move(copy));
        self(self, made);
        now.push_back(made);
      }
      out().instr(user).operands[o].value = again.at(value);
    }
    const std::vector<RegionId> regions = out().instr(user).regions;
    for (const RegionId region : regions) {
      const std::vector<InstrId> inside = out().region(region).instructions;
      for (const InstrId id : inside) self(self, id);
    }
  };
  for (size_t n = forward_count; n < all.size(); ++n) {
    if (!out().instr(all[n]).results.empty()) recompute(recompute, all[n]);
    now.push_back(all[n]);
  }
  out().region(out().body).instructions = std::move(now);
}

}  // namespace hostir
