#include "interp/sim/element_values.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/code/buffer_layout.h"
#include "kernels/common/kernel_boxes.h"
#include "kernels/cpu/reference/reference_executor.h"

namespace hostir::sim {

namespace {

using MaybeBox = std::optional<Box>;

Box hull(const MaybeBox& a, const Box& b) {
  if (!a || a->empty()) return b;
  if (b.empty()) return *a;
  Box out = *a;
  for (size_t d = 0; d < out.lo.size(); ++d) {
    out.lo[d] = std::min(out.lo[d], b.lo[d]);
    out.hi[d] = std::max(out.hi[d], b.hi[d]);
  }
  return out;
}

Box at_index(const std::vector<int64_t>& index) {
  Box out{index, index};
  for (int64_t& hi : out.hi) ++hi;
  return out;
}

// The inputs that an op needs for one box of one of its results.
struct Need {
  std::vector<Box> reads;  // by operand
  bool needed = false;
};

struct Held {
  Placement placement;
  std::vector<std::byte> data;
};

class Evaluation {
 public:
  Evaluation(const Program& program, const cpu::BoundKernel& kernel, cpu::KernelSet set,
             ElementExtent extent, const ReadParameter& read)
      : program_(program),
        kernel_(kernel),
        function_(*kernel.function),
        set_(set),
        extent_(extent),
        read_(read),
        boxes_(kernel.values.size()) {}

  Expected<EvaluatedElement> run(size_t result, const std::vector<int64_t>& element) {
    const std::vector<InstrId>& body = function_.region(function_.body).instructions;
    const ValueId wanted = cpu::returned_values(function_)[result].value;
    boxes_[wanted.index] = at_index(element);
    needs_.resize(body.size());
    for (size_t i = body.size() - 1; i-- > 0;) HOSTIR_TRY(need(body[i], needs_[i]));
    held_.resize(boxes_.size());
    for (size_t p = 0; p < function_.params.size(); ++p) hold_parameter(p);
    for (size_t i = 0; i + 1 < body.size(); ++i) {
      if (needs_[i].needed) HOSTIR_TRY(compute(body[i], needs_[i]));
    }
    const Held& made = held_[wanted.index];
    return EvaluatedElement{std::move(steps_),
                            part_of(made.placement, made.data.data(), at_index(element))};
  }

 private:
  Expected<void> need(InstrId id, Need& out) {
    const Instruction& instruction = function_.instr(id);
    for (size_t r = 0; r < instruction.results.size(); ++r) {
      const MaybeBox& box = boxes_[instruction.results[r].index];
      if (!box) continue;
      HOSTIR_ASSIGN_OR_RETURN(
          std::vector<Box> reads,
          kernels::operand_boxes(program_, function_, instruction, kernel_.values, r, *box));
      if (record(instruction.kind).shape == OpShape::kBroadcast && box->volume() == 1)
        follow(instruction, *box, reads);
      if (!out.needed) {
        out = {std::move(reads), true};
        continue;
      }
      for (size_t o = 0; o < reads.size(); ++o) out.reads[o] = hull(out.reads[o], reads[o]);
    }
    for (size_t o = 0; out.needed && o < out.reads.size(); ++o) {
      const ValueId value = instruction.operands[o].value;
      if (value.valid()) boxes_[value.index] = hull(boxes_[value.index], out.reads[o]);
    }
    return {};
  }

  // Runs an op that only moves elements on element numbers, to find the element it takes. Operands
  // it takes no element from are not read.
  void follow(const Instruction& instruction, const Box& box, std::vector<Box>& reads) {
    int64_t elements = 0;
    for (const Box& b : reads) elements += b.volume();
    if (elements <= 1 || elements > kMostFollowed) return;
    cpu::BoundKernel numbered = kernel_;
    std::vector<std::vector<int32_t>> numbers(reads.size());
    std::vector<cpu::ConstMemory> in(numbered.values.size());
    int32_t next = 1;
    for (size_t o = 0; o < reads.size(); ++o) {
      const uint32_t value = instruction.operands[o].value.index;
      if (in[value].data != nullptr) return;  // the same operand twice: indistinguishable
      numbers[o].resize(static_cast<size_t>(reads[o].volume()));
      for (int32_t& n : numbers[o]) n = next++;
      numbered.values[value] = {DType::kI32, kernel_.values[value].global, reads[o], {}};
      in[value] = {reinterpret_cast<const std::byte*>(numbers[o].data()),
                   numbered.values[value].local_bytes()};
    }
    int32_t taken = 0;
    std::vector<cpu::Memory> out(numbered.values.size());
    const uint32_t made = instruction.results.front().index;
    numbered.values[made] = {DType::kI32, kernel_.values[made].global, box, {}};
    out[made] = {reinterpret_cast<std::byte*>(&taken), sizeof taken};
    cpu::run_reference(numbered, instruction, in, out);
    for (Box& b : reads) {
      const int64_t count = b.volume();
      const bool here = taken >= 1 && taken <= count;
      if (here) {
        b = at_index(b.index_at(taken - 1));
      } else {
        b.hi = b.lo;
      }
      taken = here ? 0 : taken - static_cast<int32_t>(count);
    }
  }

  void hold_parameter(size_t p) {
    const uint32_t value = function_.params[p].value.index;
    if (!boxes_[value]) return;
    Held& held = held_[value];
    held.placement = kernel_.values[value];
    if (extent_ == ElementExtent::kNeeded && held.placement.blocks.empty())
      held.placement.box = *boxes_[value];
    held.data = read_(p, held.placement.box);
  }

  // Runs one op alone: a kernel whose body is this op and a return.
  Expected<void> compute(InstrId id, const Need& need) {
    const Instruction& instruction = function_.instr(id);
    Function alone = function_;
    cpu::BoundKernel bound = kernel_;
    bound.function = kernels::borrowed(alone);
    std::vector<InstrId>& body = alone.region(alone.body).instructions;
    const InstrId end = body.back();
    body = {id, end};
    alone.params.clear();
    std::vector<std::vector<std::byte>> parts;
    std::vector<uint32_t> taken;
    for (size_t o = 0; o < instruction.operands.size(); ++o) {
      const ValueId value = instruction.operands[o].value;
      if (!value.valid() || contains(taken, value.index)) continue;
      taken.push_back(value.index);
      alone.params.push_back({value, false});
      parts.push_back(operand(instruction, need, value, bound.values[value.index]));
    }
    alone.instr(end).operands.clear();
    std::vector<cpu::Memory> out;
    for (const ValueId result : instruction.results) {
      alone.instr(end).operands.push_back({result});
      Held& held = held_[result.index];
      held.placement = kernel_.values[result.index];
      if (extent_ == ElementExtent::kNeeded && held.placement.blocks.empty())
        held.placement.box =
            boxes_[result.index].value_or(Box{held.placement.box.lo, held.placement.box.lo});
      bound.values[result.index] = held.placement;
      held.data.resize(static_cast<size_t>(held.placement.local_bytes()));
      out.push_back({held.data.data(), held.placement.local_bytes()});
    }
    std::vector<cpu::ConstMemory> in;
    for (const auto& part : parts) in.push_back({part.data(), static_cast<int64_t>(part.size())});
    HOSTIR_ASSIGN_OR_RETURN(const auto compiled, cpu::compile(bound, set_));
    compiled->run(in, out);
    note(id, instruction, need);
    return {};
  }

  // The part of a value that an op reads, with its placement.
  std::vector<std::byte> operand(const Instruction& instruction, const Need& need, ValueId value,
                                 Placement& placement) {
    const Held& held = held_[value.index];
    placement = held.placement;
    if (extent_ == ElementExtent::kWhole || !placement.blocks.empty()) return held.data;
    MaybeBox box;
    for (size_t o = 0; o < instruction.operands.size(); ++o) {
      if (instruction.operands[o].value == value) box = hull(box, need.reads[o]);
    }
    placement.box = *box;
    return part_of(held.placement, held.data.data(), placement.box).data;
  }

  void note(InstrId id, const Instruction& instruction, const Need& need) {
    interp::ElementStep& step = steps_.emplace_back();
    step.instruction = id;
    for (size_t o = 0; o < instruction.operands.size(); ++o) {
      const ValueId value = instruction.operands[o].value;
      step.reads.push_back(part(value, need.reads[o]));
    }
    for (const ValueId result : instruction.results)
      step.makes.push_back(part(result, boxes_[result.index].value_or(Box{})));
  }

  interp::ElementPart part(ValueId value, const Box& box) const {
    interp::ElementPart out{value, box, {}};
    if (!value.valid() || held_[value.index].placement.box.lo.size() != box.lo.size()) return out;
    const Held& held = held_[value.index];
    out.tensor = part_of(held.placement, held.data.data(), box);
    return out;
  }

  static constexpr int64_t kMostFollowed = int64_t{1} << 22;  // limit on elements of moved operands

  const Program& program_;
  const cpu::BoundKernel& kernel_;
  const Function& function_;
  cpu::KernelSet set_;
  ElementExtent extent_;
  const ReadParameter& read_;
  std::vector<MaybeBox> boxes_;  // by value: the needed part
  std::vector<Need> needs_;      // by instruction of the body
  std::vector<Held> held_;       // by value
  std::vector<interp::ElementStep> steps_;
};

}  // namespace

Tensor part_of(const Placement& placement, const std::byte* data, const Box& box) {
  Tensor out = Tensor::zeros(placement.dtype, box.extents());
  if (!out.data.empty()) gather(interp::BufferRef{}, placement, box, data, out.data.data());
  return out;
}

Expected<EvaluatedElement> evaluate_element(const Program& program, const cpu::BoundKernel& kernel,
                                            cpu::KernelSet set, ElementExtent extent, size_t result,
                                            const std::vector<int64_t>& element,
                                            const ReadParameter& read) {
  return Evaluation(program, kernel, set, extent, read).run(result, element);
}

}  // namespace hostir::sim
