// Ops that move elements: views if strides can express them, copies otherwise.
#include <algorithm>
#include <cstring>

#include "hostir/ir/tensor.h"
#include "hostir/ops/record.h"
#include "kernels/common/elements.h"
#include "kernels/cuda/generate/emit.h"
#include "kernels/cuda/generate/planning.h"

namespace hostir::cuda {

using kernels::StridedView;

Group Planner::copy_part(const Extents& extents, DType dtype, int from, const Walk& read, int to,
                         const Walk& write) const {
  Placement space;
  space.dtype = dtype;
  space.global = extents;
  space.box = Box::whole(extents);
  Group part(space);
  part.store(part.load(from, dtype, read, false), to, write);
  return part;
}

Group Planner::fill_part(uint32_t value, const std::string& text, int to) const {
  Placement space = placement(value);
  Group part(space);
  part.store(part.literal(space.dtype, text), to, part.full_walk());
  return part;
}

Expected<void> Planner::add_constant(const Instruction& instruction) {
  const uint32_t result = instruction.results[0].index;
  const Placement& out = placement(result);
  const Tensor* data = instruction.attributes.get<Tensor>("data");
  Tensor value = data ? converted(*data, out.dtype) : Tensor::zeros(out.dtype, {1});
  if (!data) value.set_double(0, instruction.attributes.get_or<double>("value", 0));
  if (value.element_count() == 1) {
    set_literal(result, is_float(out.dtype) ? literal(out.dtype, value.get_double(0))
                                            : literal(out.dtype, value.get_int(0)));
    return {};
  }
  // This rank's part of the literal, in memory owned by the compiled kernel.
  const auto size = static_cast<size_t>(size_bytes(out.dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(out.local_bytes()));
  for (int64_t i = 0; i < out.box.volume(); ++i) {
    const int64_t from = kernels::global_linear_index(out.global, out.box.index_at(i));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * size,
                value.data.data() + static_cast<size_t>(from) * size, size);
  }
  set_memory(result, plan_.add_buffer({.kind = Buffer::Kind::kConstant,
                                       .index = plan_.constants.size(),
                                       .bytes = out.local_bytes()}));
  plan_.constants.push_back(std::move(bytes));
  return {};
}

Expected<void> Planner::add_move(const Instruction& instruction) {
  const uint32_t operand = instruction.operands[0].value.index;
  const uint32_t result = instruction.results[0].index;
  const Placement& in = placement(operand);
  const Placement& out = placement(result);
  // Elements that another rank holds become the identity of the reduction.
  const auto partial = kernels::becomes_partial(kernel_.function.get(), instruction);
  const std::string identity = !partial ? std::string()
                               : is_float(out.dtype)
                                   ? literal(out.dtype, kernels::real_identity(*partial, out.dtype))
                                   : literal(out.dtype, kernels::int_identity(*partial, out.dtype));
  if (partial && kernel_.holds_identity(instruction.results.front())) {
    set_literal(result, identity);
    return {};
  }
  if (partial && !in.box.contains(out.box)) {
    // Filled and then overwritten, so not a literal: the result has its own memory.
    const int to = buffer_for(result);
    emit_parts({fill_part(result, identity, to)}, plan_);
    return add_relayout(instruction, to);
  }
  if (!in.blocks.empty() || !out.blocks.empty()) return add_relayout(instruction, -1);
  if (states_[operand].at == ValueState::At::kLiteral) {
    set_literal(result, states_[operand].literal);
    return {};
  }
  const auto moved = [&]() -> std::optional<StridedView> {
    const StridedView source = view_of(operand);
    return kernels::moved_view(kernel_, instruction, source, placement(source.value).box.volume());
  };
  auto view = moved();
  if (!view && states_[operand].at == ValueState::At::kView) {
    materialise(operand);  // a view may fail on another view but work on memory
    view = moved();
  }
  if (!view && record(instruction.kind).shape == OpShape::kLayout)
    return add_relayout(instruction, -1);
  if (!view) return gather_reshape(instruction);
  states_[result] = {};
  states_[result].at = ValueState::At::kView;
  states_[result].view = *view;
  return {};
}

// A reshape whose boxes do not correspond: by global indices, element by element.
Expected<void> Planner::gather_reshape(const Instruction& instruction) {
  const uint32_t operand = instruction.operands[0].value.index;
  const uint32_t result = instruction.results[0].index;
  if (instruction.kind != OpKind::reshape) {
    return unsupported(instruction, "this rank does not hold all elements that it moves");
  }
  const int from = materialise(operand);
  const int to = buffer_for(result);
  emit_reshape(placement(operand), from, placement(result), to, plan_);
  set_memory(result, to);
  return {};
}

Expected<void> Planner::add_concat(const Instruction& instruction) {
  const uint32_t result = instruction.results[0].index;
  const Placement& out = placement(result);
  const auto dim = static_cast<size_t>(instruction.attributes.get_or<int64_t>("dim", 0));
  const int to = buffer_for(result);
  const StridedView dense = kernels::dense_view(result, out);
  std::vector<Group> parts;
  int64_t start = 0;
  for (const Operand& o : instruction.operands) {
    const uint32_t operand = o.value.index;
    const int64_t extent = placement(operand).global[dim];
    Box part = Box::whole(out.global);
    part.lo[dim] = start;
    part.hi[dim] = start + extent;
    part = part.intersect(out.box);
    const auto target = kernels::sub_view(dense, out.box, part);
    const Walk write{target->offset, target->strides};
    part.lo[dim] -= start;
    part.hi[dim] -= start;
    start += extent;
    if (part.empty()) continue;
    Placement space;
    space.dtype = out.dtype;
    space.global = part.extents();
    space.box = Box::whole(space.global);
    Group& group = parts.emplace_back(space);
    if (states_[operand].at == ValueState::At::kLiteral) {
      group.store(group.literal(out.dtype, states_[operand].literal), to, write);
      continue;
    }
    const int from = root_buffer(operand);
    const auto read = walk_over(operand, part);
    if (!read) return unsupported(instruction, "this rank does not hold all elements it joins");
    group.store(group.load(from, out.dtype, *read, false), to, write);
  }
  emit_parts(parts, plan_);
  set_memory(result, to);
  return {};
}

namespace {

/// The walk over a part of a run that starts at `start` in memory.
Walk walk_of_part(const Box& run, int64_t start, const Box& part) {
  const Extents strides = kernels::strides_of(run.extents());
  Walk walk{start, strides};
  for (size_t d = 0; d < strides.size(); ++d) walk.offset += (part.lo[d] - run.lo[d]) * strides[d];
  return walk;
}

}  // namespace

Expected<void> Planner::add_relayout(const Instruction& instruction, int to) {
  const uint32_t operand = instruction.operands[0].value.index;
  const uint32_t result = instruction.results[0].index;
  const Placement& in = placement(operand);
  const Placement& out = placement(result);
  if (to < 0 && states_[operand].at == ValueState::At::kLiteral) {
    set_literal(result, states_[operand].literal);
    return {};
  }
  const int from = materialise(operand);
  if (to < 0) to = buffer_for(result);
  std::vector<Group> parts;
  int64_t write_start = 0;
  for (const Box& to_run : out.runs()) {
    int64_t read_start = 0;
    for (const Box& from_run : in.runs()) {
      const Box part = from_run.intersect(to_run);
      if (!part.empty()) {
        parts.push_back(copy_part(part.extents(), out.dtype, from,
                                  walk_of_part(from_run, read_start, part), to,
                                  walk_of_part(to_run, write_start, part)));
      }
      read_start += from_run.volume();
    }
    write_start += to_run.volume();
  }
  emit_parts(parts, plan_);
  set_memory(result, to);
  return {};
}

}  // namespace hostir::cuda
