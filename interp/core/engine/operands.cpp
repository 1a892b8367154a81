#include "interp/core/engine/operands.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/code/flattener.h"

namespace hostir::interp {

Operands::Operands(RunContext& run, FaultReporter& faults) : run_(run), faults_(faults) {
  plans_.resize(run.code->instructions.size() * run.state.ranks.size());
}

bool Operands::evaluate(const Step& step, IndexCodeId expr, int64_t& out) {
  if (run_.code->exprs[expr].evaluate(step.rank_state.registers.data(), run_.code->rank_tables,
                                      step.rank, out)) {
    return true;
  }
  return faults_.fault(
      step, "index_error",
      fmt::format("rank {}: an index expression of {} divides by zero or overflows", step.rank,
                  faults_.name_of(step)));
}

void Operands::move_many(RankState& rank, const std::vector<RegisterMove>& moves) {
  // Reads all sources before writing any target, because names may be swapped.
  move_scratch_.clear();
  for (const RegisterMove& m : moves) {
    move_scratch_.push_back(m.from == kNoRegister ? Register{} : rank.registers[m.from]);
  }
  for (size_t i = 0; i < moves.size(); ++i) rank.registers[moves[i].to] = move_scratch_[i];
}

const Placement* Operands::placement(const Step& step, LayoutIndex layout) {
  const LayoutTable& table = run_.code->layouts[layout];
  if (table.is_static()) return &table.by_rank[static_cast<size_t>(step.rank)];
  std::vector<int64_t> key = {layout, step.rank};
  for (const IndexCodeId expr : table.dynamic_shape) {
    int64_t size = 0;
    if (!evaluate(step, expr, size)) return nullptr;
    if (size < 0) {
      faults_.fault(
          step, "index_error",
          fmt::format("rank {}: {} has a size of {}", step.rank, faults_.name_of(step), size));
      return nullptr;
    }
    key.push_back(size);
  }
  const auto known = dynamic_index_.find(key);
  if (known != dynamic_index_.end()) return known->second;
  const Extents extents(key.begin() + 2, key.end());
  const auto elements = element_count(extents);
  if (!elements || *elements > INT64_MAX / 16) {
    faults_.fault(
        step, "index_error",
        fmt::format("rank {}: {} is larger than any memory", step.rank, faults_.name_of(step)));
    return nullptr;
  }
  run_.dynamic_placements.push_back(
      make_placement(*run_.code->program, table.type, extents, step.rank, nullptr));
  if (!run_.dynamic_placements.back().blocks_fill_box()) {
    faults_.fault(step, "code_blocks",
                  fmt::format("rank {}: the blocks of {} do not cover the rank's part", step.rank,
                              faults_.name_of(step)));
    run_.dynamic_placements.pop_back();
    return nullptr;
  }
  dynamic_index_.emplace(std::move(key), &run_.dynamic_placements.back());
  return &run_.dynamic_placements.back();
}

Allocation* Operands::open(const Step& step, uint32_t operand) {
  const uint32_t reg = step.code.operands[operand];
  const Register& name = step.rank_state.registers[reg];
  if (name.slot == kNoSlot) {
    faults_.fault(step, "uninitialised_read",
                  fmt::format("rank {}: {} uses {}, which this rank never allocated", step.rank,
                              faults_.name_of(step), run_.code->register_name(reg)));
    return nullptr;
  }
  Allocation& a = step.rank_state.allocations[name.slot];
  if (names_live(step.rank_state, name)) return &a;
  const bool same = a.id.index == static_cast<uint32_t>(name.value);
  std::string how = "freed earlier";
  if (same && a.live) {
    how = fmt::format("given to {} by {}", run_.code->register_name(a.reg),
                      faults_.name_of(a.allocated_by));
  } else if (same && a.freed_by != kNoCode) {
    how = fmt::format("freed by {}", faults_.name_of(a.freed_by));
  }
  const bool again = record(step.code.kind).role == HostRole::kFree;
  Fault fault = faults_.fault_at(step);
  fault.record.kind = again ? "double_free" : "use_after_free";
  fault.record.sentence =
      fmt::format("rank {}: {} {} {} that was {}", step.rank, faults_.name_of(step),
                  again ? "frees" : "uses", run_.code->register_name(reg), how);
  // The run ends here, so see whether the same is about to happen on other ranks.
  std::vector<Rank> others;
  for (Rank r = 0; r < run_.rank_count() && faults_.probe == nullptr; ++r) {
    const RankState& other = run_.state.ranks[static_cast<size_t>(r)];
    const bool is_here = other.pc == step.index && other.loop_path == step.rank_state.loop_path;
    if (r == step.rank || !is_here) continue;
    const Register& there = other.registers[reg];
    if (there.slot != kNoSlot && !names_live(other, there)) others.push_back(r);
  }
  if (!others.empty()) {
    fault.record.ranks.insert(fault.record.ranks.end(), others.begin(), others.end());
    fault.record.notes.push_back("the same on " + model::list_of(others));
  }
  faults_.add(std::move(fault));
  return nullptr;
}

bool Operands::names_live(const RankState& rank, const Register& name) {
  const Allocation& a = rank.allocations[name.slot];
  return a.id.index == static_cast<uint32_t>(name.value) && a.live &&
         a.generation == name.generation;
}

std::optional<BufferRef> Operands::buffer_of(const RankState& rank, const Register& name) const {
  if (name.slot == kNoSlot) return std::nullopt;
  if (!names_live(rank, name)) return std::nullopt;
  const Allocation& a = rank.allocations[name.slot];
  BufferRef ref;
  ref.allocation = a.id;
  ref.offset_bytes = name.offset_bytes;
  // A name for the whole allocation follows its layout; a view keeps its own.
  const bool whole = name.offset_bytes == 0 && name.shape == 0 && a.placement != nullptr &&
                     name.placement == a.declared;
  ref.placement = whole ? a.placement : name.placement;
  if (name.shape != 0) ref.strides_elems = run_.shapes[name.shape].strides_elems;
  ref.size_bytes =
      name.shape == 0 ? ref.placement->local_bytes() : run_.shapes[name.shape].span_bytes();
  return ref;
}

IssuePlan& Operands::make_plan(const Step& step) {
  auto& slot = plan_at(step);
  slot = std::make_unique<IssuePlan>();
  IssuePlan& plan = *slot;
  const Instruction& source = run_.code->source(step.index);
  for (uint32_t i = 0; i < step.code.operands.size(); ++i) {
    const uint32_t reg = step.code.operands[i];
    if (reg == kNoRegister || !run_.code->registers[reg].buffer) continue;
    PlannedBuffer& planned = plan.buffers.emplace_back();
    planned.operand = i;
    planned.reg = reg;
    planned.after = step.code.becomes[i];
    plan.refs.emplace_back().access = source.operands[i].access;
  }
  return plan;
}

// Computes layouts, strides and sizes; if they never change, marks the operand `ready`.
bool Operands::bind_slowly(const Step& step, PlannedBuffer& planned, BufferRef& ref,
                           const Register& name) {
  const LayoutIndex before = step.code.layouts[planned.operand];
  const bool fixed = before != kNoLayout && run_.code->layouts[before].is_static();
  const bool fixed_after =
      planned.after == kNoLayout || run_.code->layouts[planned.after].is_static();
  ref.placement =
      fixed ? &run_.code->layouts[before].by_rank[static_cast<size_t>(step.rank)] : name.placement;
  planned.bytes = ref.placement->local_bytes();
  if (planned.after != kNoLayout) {
    ref.after = placement(step, planned.after);
    if (ref.after == nullptr) return false;
    planned.bytes = std::max(planned.bytes, ref.after->local_bytes());
  }
  if (planned.shape != name.shape) {
    planned.shape = name.shape;
    ref.strides_elems = run_.shapes[name.shape].strides_elems;
  }
  ref.size_bytes =
      name.shape == 0 || planned.bytes == 0 ? planned.bytes : run_.shapes[name.shape].span_bytes();
  planned.ready = fixed && fixed_after && name.shape == 0;
  return true;
}

bool Operands::bind_buffers(const Step& step, IssuePlan& plan) {
  const Register* registers = step.rank_state.registers.data();
  Allocation* allocations = step.rank_state.allocations.data();
  BufferRef* ref = plan.refs.data();
  for (PlannedBuffer& planned : plan.buffers) {
    const Register& name = registers[planned.reg];
    Allocation* a = name.slot != kNoSlot ? allocations + name.slot : nullptr;
    const bool known = a != nullptr && a->id.index == static_cast<uint32_t>(name.value) &&
                       a->live && a->generation == name.generation;
    if (!known) {
      open(step, planned.operand);  // reports the fault
      return false;
    }
    planned.bound = a;
    if (planned.ready && name.shape == 0) {
      ref->size_bytes = planned.bytes;
    } else if (!bind_slowly(step, planned, *ref, name)) {
      return false;
    }
    ref->allocation = a->id;
    ref->offset_bytes = name.offset_bytes;
    const bool inside = ref->offset_bytes + ref->size_bytes <= a->bytes;
    if (!inside || (!a->writable && ref->access >= Access::kWrite)) {
      return refuse(step, planned, *ref);
    }
    ++ref;
  }
  return true;
}

// Reports why a bound buffer may not be accessed this way.
bool Operands::refuse(const Step& step, const PlannedBuffer& planned, const BufferRef& ref) {
  const Allocation& a = *planned.bound;
  const int64_t end = ref.offset_bytes + ref.size_bytes;
  if (end > a.bytes) {
    return faults_.fault(step, "out_of_bounds",
                         fmt::format("rank {}: {} accesses bytes {} to {} of {}, which has {}",
                                     step.rank, faults_.name_of(step), ref.offset_bytes, end,
                                     run_.code->register_name(planned.reg), a.bytes));
  }
  return faults_.fault(
      step, "write_to_readonly",
      fmt::format("rank {}: {} writes to parameter {}, which is not inout", step.rank,
                  faults_.name_of(step), run_.code->register_name(a.reg)));
}

}  // namespace hostir::interp
