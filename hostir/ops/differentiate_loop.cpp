// The gradient of a loop is a loop in the opposite order.
//
//   1. Copy the region. The cotangents of carried values are carried from pass to pass.
//   2. Differentiate the copy. The cotangents of values from outside are added up in further
//   carried
//      values. Where each pass uses one element of a stack, `at %ws[%i]`, they are stacked instead.
//   3. Values of the forward pass that the gradient uses are stacked by the forward loop
//      (recompute.cpp); with `recompute`, only the carried ones.
#include <algorithm>

#include "hostir/ops/differentiator.h"
#include "hostir/ops/loops.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

IndexExpr difference(const IndexExpr& a, const IndexExpr& b) {
  return IndexExpr::binary(IndexExpr::Kind::kSub, a, b).simplified();
}

Operand use_of(ValueId value) {
  Operand out;
  out.value = value;
  return out;
}

void collect(const Function& f, RegionId region, std::set<ValueId>& inside,
             std::vector<ValueId>& used) {
  for (const ValueId argument : f.region(region).arguments) inside.insert(argument);
  for (const InstrId id : f.region(region).instructions) {
    for (const Operand& o : f.instr(id).operands) used.push_back(o.value);
    for (const RegionId inner : f.instr(id).regions) collect(f, inner, inside, used);
    for (const ValueId r : f.instr(id).results) inside.insert(r);
  }
}

}  // namespace

void Differentiator::mark_loop_active(const Instruction& loop) {
  const Region& region = out().region(loop.regions.front());
  const Instruction& yield = out().instr(region.instructions.back());
  const size_t carried = loop.operands.size();
  for (size_t c = 0; c < carried; ++c) {
    const ValueId initial = loop.operands[c].value;
    set_active(region.arguments[c + 1], is_active(initial) && is_real(type(initial)));
  }
  for (bool changed = true; changed;) {
    mark_active(region.instructions);
    changed = false;
    for (size_t c = 0; c < carried; ++c) {
      const ValueId argument = region.arguments[c + 1];
      if (is_active(argument) || !is_active(yield.operands[c].value)) continue;
      set_active(argument, true);
      changed = true;
    }
  }
  for (size_t r = 0; r < loop.results.size(); ++r) {
    const bool from_start = r < carried && is_active(region.arguments[r + 1]);
    set_active(loop.results[r], from_start || is_active(yield.operands[r].value));
  }
}

std::vector<ValueId> Differentiator::values_from_outside(const Instruction& loop) {
  std::set<ValueId> inside;
  std::vector<ValueId> used;
  collect(out(), loop.regions.front(), inside, used);
  std::vector<ValueId> outer;
  for (const ValueId v : used) {
    if (!inside.contains(v) && !contains(outer, v)) outer.push_back(v);
  }
  return outer;
}

Expected<void> Differentiator::backward_loop(InstrId id) {
  // Copies, because the arenas grow.
  const Instruction loop = out().instr(id);
  const Region region = out().region(loop.regions.front());
  const Instruction yield = out().instr(region.instructions.back());
  const size_t carried = loop.operands.size();
  const auto cotangent_of_result = [&](size_t r) {
    const bool has = r < loop.results.size() && is_active(loop.results[r]);
    return has ? cotangent(loop.results[r]) : ValueId();
  };
  bool any = false;
  for (size_t r = 0; r < loop.results.size(); ++r) any = any || cotangent_of_result(r).valid();
  if (!any) return {};

  ops::Builder& b = rebuild_.builder();
  const RegionId around = region_;
  Frame frame;
  frame.variable = out().value(region.arguments.front()).name;
  frame.first = *loop.attributes.get<IndexExpr>("lower");
  frame.last = *loop.attributes.get<IndexExpr>("upper");
  std::map<ValueId, ValueId> before;  // the cotangents of values from outside, so far
  for (const ValueId v : values_from_outside(loop)) {
    if (!is_active(v)) continue;
    frame.outer.push_back(v);
    before[v] = std::exchange(cotangent(v), ValueId());
  }
  Again again = copy_region_again(id);
  const auto copied = [&](ValueId v) {
    const auto found = again.copied.find(v);
    return found == again.copied.end() ? v : found->second;
  };

  Instruction reverse;
  reverse.kind = loop.kind;
  reverse.span = loop.span;
  reverse.name_span = loop.name_span;
  reverse.attributes = loop.attributes;
  reverse.attributes.erase("backward");
  if (loop.attributes.has("order")) {
    reverse.attributes.erase("order");
  } else {
    reverse.attributes.set("order", Keyword{"reversed"});
  }
  reverse.regions = {again.region};
  const auto carry = [&](ValueId initial, const std::string& stem) {
    const ValueId argument =
        out().add_value(rebuild_.names().fresh(stem), without_sharding(type(initial)));
    out().region(again.region).arguments.push_back(argument);
    reverse.operands.push_back(use_of(initial));
    return argument;
  };

  std::vector<size_t> active;  // carried values
  for (size_t c = 0; c < carried; ++c) {
    const ValueId argument = region.arguments[c + 1];
    if (!is_active(argument)) continue;
    const std::string stem = "d_" + out().value(argument).name;
    b.begin(loop, stem);
    ValueId initial = cotangent_of_result(c);
    if (!initial.valid()) initial = b.zeros_like(loop.operands[c].value);
    if (b.error()) return tl::unexpected(*b.error());
    active.push_back(c);
    const ValueId passed = carry(initial, stem);
    enter(again.region);
    b.begin(yield, stem);
    accumulate(copied(yield.operands[c].value), passed);
    enter(around);
  }
  enter(again.region);
  for (size_t r = carried; r < loop.results.size(); ++r) {
    const ValueId stack = cotangent_of_result(r);
    if (!stack.valid()) continue;
    b.begin(yield, "d_" + out().value(yield.operands[r].value).name);
    accumulate(copied(yield.operands[r].value),
               b.op(OpKind::at, {stack}, ops::attrs({{"index", ExprList{again.position}}})));
  }
  Frame* const outer_frame = std::exchange(frame_, &frame);
  HOSTIR_TRY(backward(again.copies));
  frame_ = outer_frame;

  Instruction yields;
  yields.kind = OpKind::yield;
  yields.span = yields.name_span = loop.name_span;
  for (const size_t c : active) {
    const ValueId argument = copied(region.arguments[c + 1]);
    b.begin(yield, "d_" + out().value(argument).name);
    const ValueId d = cotangent(argument);
    yields.operands.push_back(use_of(d.valid() ? d : b.zeros_like(argument)));
  }
  std::vector<ValueId> summed;
  for (const ValueId v : frame.outer) {
    const ValueId one = std::exchange(cotangent(v), before[v]);
    if (!one.valid()) continue;
    summed.push_back(v);
    const std::string stem = "d_" + out().value(v).name;
    enter(around);
    b.begin(loop, stem);
    const ValueId initial = before[v].valid() ? before[v] : b.zeros_like(v);
    if (b.error()) return tl::unexpected(*b.error());
    const ValueId sum = carry(initial, stem + "_sum");
    enter(again.region);
    b.begin(yield, stem);
    yields.operands.push_back(use_of(b.add(sum, one)));
  }
  for (const StackUse& use : frame.uses) yields.operands.push_back(use_of(use.cotangent));
  if (b.error()) return tl::unexpected(*b.error());
  out().add_instruction(again.region, std::move(yields));
  use_kept(again);
  enter(around);
  if (b.error()) return tl::unexpected(*b.error());

  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Type> types, check_and_infer(program_, out(), reverse));
  const size_t first_stack = active.size() + summed.size();
  for (size_t r = 0; r < types.size(); ++r) {
    const ValueId of = r < active.size() ? loop.operands[active[r]].value
                       : r < first_stack ? summed[r - active.size()]
                                         : frame.uses[r - first_stack].stack;
    reverse.results.push_back(
        out().add_value(rebuild_.names().fresh("d_" + out().value(of).name), types[r]));
  }
  const std::vector<ValueId> results = reverse.results;
  out().add_instruction(around, std::move(reverse));
  // A sum starts with the cotangent so far, so it comes before others of the same value.
  for (size_t v = 0; v < summed.size(); ++v) cotangent(summed[v]) = results[active.size() + v];
  for (size_t r = 0; r < results.size(); ++r) {
    b.begin(loop, out().value(results[r]).name);
    if (r < active.size()) {
      accumulate(loop.operands[active[r]].value, results[r]);
    } else if (r >= first_stack) {
      const StackUse& use = frame.uses[r - first_stack];
      accumulate(use.stack, in_whole_stack(frame, use, results[r]));
    }
  }
  if (b.error()) return tl::unexpected(*b.error());
  return {};
}

// The passes may use a part of the stack only: zeros are around it.
ValueId Differentiator::in_whole_stack(const Frame& frame, const StackUse& use,
                                       ValueId cotangents) {
  const Shape whole = shape_of(type(use.stack));
  ExprList low(whole.size(), IndexExpr(0));
  ExprList high = low;
  low[0] = IndexExpr::binary(IndexExpr::Kind::kAdd, frame.first, use.offset).simplified();
  high[0] = difference(whole[0], IndexExpr::binary(IndexExpr::Kind::kAdd, frame.last, use.offset));
  if (ops::same_size(low[0], 0) && ops::same_size(high[0], 0)) return cotangents;
  return rebuild_.builder().op(OpKind::pad, {cotangents},
                               ops::attrs({{"low", std::move(low)}, {"high", std::move(high)}}));
}

// True if the cotangent of this `at` is stacked.
bool Differentiator::take_stack_use(const Instruction& at) {
  if (frame_ == nullptr || at.kind != OpKind::at) return false;
  const ValueId stack = at.operands.front().value;
  const auto& index = *at.attributes.get<ExprList>("index");
  if (index.size() != 1 || !contains(frame_->outer, stack)) return false;
  const IndexExpr offset = difference(index.front(), IndexExpr::name(frame_->variable));
  const IndexExpr passes = difference(frame_->last, frame_->first);
  const bool are_counted =
      passes.is_const() ? passes.value() >= 0 : passes.kind() == IndexExpr::Kind::kSize;
  if (mentions(offset, frame_->variable) || !are_counted) return false;
  const ValueId given = cotangent(at.results.front());
  for (StackUse& use : frame_->uses) {
    if (use.stack != stack || use.offset != offset) continue;
    rebuild_.builder().begin(at, "d_" + out().value(at.results.front()).name);
    use.cotangent = rebuild_.builder().add(use.cotangent, given);
    return true;
  }
  frame_->uses.push_back({stack, offset, given});
  return true;
}

Differentiator::Again Differentiator::copy_region_again(InstrId loop) {
  const Instruction of = out().instr(loop);
  const Region region = out().region(of.regions.front());
  Again again{.loop = loop,
              .region = out().add_region(),
              .position = difference(IndexExpr::name(out().value(region.arguments.front()).name),
                                     *of.attributes.get<IndexExpr>("lower")),
              .copies = {}};
  for (size_t a = 0; a < region.arguments.size(); ++a) {
    const Value value = out().value(region.arguments[a]);
    // Index expressions name the variable, which is not visible here.
    const ValueId made =
        out().add_value(a == 0 ? value.name : rebuild_.names().fresh(value.name), value.type);
    if (a == 0) out().region(again.region).arguments.push_back(made);
    if (a > 0) again.original[made] = region.arguments[a];
    again.copied[region.arguments[a]] = made;
    set_active(made, is_active(region.arguments[a]));
  }
  for (const InstrId id : region.instructions) {
    if (id != region.instructions.back())
      again.copies.push_back(copy_again(again, id, again.region));
  }
  return again;
}

InstrId Differentiator::copy_again(Again& again, InstrId id, RegionId into) {
  Instruction made = out().instr(id);
  made.comments = {};
  for (Operand& o : made.operands) {
    const auto found = again.copied.find(o.value);
    if (found != again.copied.end()) o.value = found->second;
  }
  for (RegionId& r : made.regions) {
    const Region from = out().region(r);
    const RegionId inner = out().add_region();
    for (size_t a = 0; a < from.arguments.size(); ++a) {
      const Value value = out().value(from.arguments[a]);
      const ValueId copy =
          out().add_value(a == 0 ? value.name : rebuild_.names().fresh(value.name), value.type);
      out().region(inner).arguments.push_back(copy);
      again.original[copy] = from.arguments[a];
      again.copied[from.arguments[a]] = copy;
      set_active(copy, is_active(from.arguments[a]));
    }
    for (const InstrId i : from.instructions) copy_again(again, i, inner);
    r = inner;
  }
  for (ValueId& r : made.results) {
    const Value value = out().value(r);
    const ValueId copy = out().add_value(rebuild_.names().fresh(value.name), value.type);
    out().value(copy).span = value.span;
    again.original[copy] = r;
    again.copied[r] = copy;
    set_active(copy, is_active(r));
    r = copy;
  }
  const bool is_loop = !made.regions.empty();
  const InstrId copy = out().add_instruction(into, std::move(made));
  if (is_loop) again.loops[copy] = id;
  return copy;
}

ValueId Differentiator::stacked(InstrId loop, ValueId value) {
  ValueId& stack = stacks_[{loop, value}];
  if (stack.valid()) return stack;
  const InstrId yield = out().region(out().instr(loop).regions.front()).instructions.back();
  out().instr(yield).operands.push_back(use_of(value));
  const auto types = check_and_infer(program_, out(), out().instr(loop));
  if (!types) {
    rebuild_.builder().fail(types.error());
    return {};
  }
  for (size_t r = out().instr(loop).results.size(); r < types->size(); ++r) {
    const std::string stem = out().value(out().instr(yield).operands[r].value).name + "_all";
    const ValueId made = out().add_value(rebuild_.names().fresh(stem), (*types)[r]);
    out().value(made).defined_by = loop;
    out().value(made).result_index = static_cast<uint32_t>(r);
    out().instr(loop).results.push_back(made);
  }
  stack = out().instr(loop).results.back();
  return stack;
}

}  // namespace hostir
