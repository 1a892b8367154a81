#include <fmt/core.h>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_alloc(Engine& engine, Step& step);

namespace {

// Freed slots are not reused for a while, so that a late use can still report which instruction
// freed the allocation.
constexpr size_t kRestingSlots = 16;

uint32_t take_slot(RankState& rank) {
  if (rank.free_slots.size() <= kRestingSlots) {
    rank.allocations.emplace_back();
    return static_cast<uint32_t>(rank.allocations.size() - 1);
  }
  return rank.free_slots.pop();
}

// `alloc over %g`: the same allocation under a new name. %g may have been freed just before.
bool reuse(Engine& engine, Step& step, uint32_t storage, int64_t bytes, Register& name) {
  RankState& rank = step.rank_state;
  const Register& old = rank.registers[step.code.operands[storage]];
  const bool known = old.slot != kNoSlot &&
                     rank.allocations[old.slot].id.index == static_cast<uint32_t>(old.value);
  if (!known || rank.allocations[old.slot].live || rank.allocations[old.slot].parameter) {
    const Allocation* open = engine.operands.open(step, storage);
    if (open == nullptr) return false;
    if (open->parameter) {
      return engine.faults.fault(
          step, "write_to_readonly",
          fmt::format("rank {}: {} reuses parameter {}", step.rank, engine.faults.name_of(step),
                      engine.run.code->register_name(open->reg)));
    }
  }
  Allocation& a = rank.allocations[old.slot];
  if (a.bytes < bytes) {
    return engine.faults.fault(
        step, "out_of_bounds",
        fmt::format("rank {}: {} needs {} bytes, {} has {}", step.rank, engine.faults.name_of(step),
                    bytes, engine.run.code->register_name(step.code.operands[storage]), a.bytes));
  }
  if (!a.live) {
    rank.free_slots.remove(old.slot);
    a.live = true;
    step.bytes = a.bytes;
  }
  ++a.generation;
  name.slot = old.slot;
  return true;
}

// The placement of the new buffer on this rank; kept in the plan if it is static.
bool place(Engine& engine, const Step& step, IssuePlan& plan, Register& name, int64_t& bytes) {
  if (plan.allocated == nullptr) {
    if (plan.refs.empty()) plan.refs.emplace_back();
    name.placement = engine.operands.placement(step, step.code.result_layout);
    if (name.placement == nullptr) return false;
    bytes = name.placement->local_bytes();
    if (!engine.run.code->layouts[step.code.result_layout].is_static()) return true;
    plan.allocated = name.placement;
    plan.allocated_bytes = bytes;
  }
  name.placement = plan.allocated;
  bytes = plan.allocated_bytes;
  return true;
}

}  // namespace

bool execute_alloc(Engine& engine, Step& step) {
  RankState& rank = step.rank_state;
  IssuePlan& plan = engine.operands.plan(step);
  const LayoutIndex layout = step.code.result_layout;
  Register name;
  int64_t bytes = 0;
  if (!place(engine, step, plan, name, bytes)) return false;
  if (!plan.buffers.empty()) {
    if (!reuse(engine, step, plan.buffers.back().operand, bytes, name)) return false;
  } else {
    name.slot = take_slot(rank);
    Allocation& fresh = rank.allocations[name.slot];
    fresh.id = AllocationId(rank.next_allocation++);
    fresh.bytes = step.bytes = bytes;
    fresh.generation = 0;
    fresh.accesses.clear();
    fresh.whole = {};
    fresh.live = true;
  }
  Allocation& a = rank.allocations[name.slot];
  a.reg = step.code.results[0];
  a.layout = layout;
  a.placement = a.declared = name.placement;
  a.version = 0;
  a.allocated_by = step.index;
  a.freed_by = a.written_by = kNoCode;
  a.written_task = kNoTask;
  a.initialised = a.bytes == 0;
  a.written.clear();
  name.value = a.id.index;
  name.generation = a.generation;

  TaskRecord& task = engine.tasks.begin_task(step, step.code.stream);
  task.alloc_bytes = step.bytes;
  if (engine.run.checks_all() && a.bytes > 0) {
    const AccessRecord access{
        0, a.bytes, 0, step.code.stream, task.sequence, step.index, AccessRecord::Kind::kAlloc};
    if (!engine.races.note_access(step, a, a.reg, access)) return false;
  }
  BufferRef& ref = plan.refs[0];
  ref.allocation = a.id;
  ref.size_bytes = bytes;
  ref.placement = name.placement;
  ref.access = Access::kWrite;
  if (!engine.tasks.issue(step, task, {&ref, 1}, {})) return false;
  rank.registers[step.code.results[0]] = name;
  engine.tasks.set_event(step, 1);
  return true;
}

}  // namespace hostir::interp
