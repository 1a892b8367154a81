// What an instruction does on a rank every time, worked out at its first execution there.
#pragma once

#include <memory>
#include <vector>

#include "interp/core/state.h"

namespace hostir::interp {

/// The part of a buffer operand on one rank that does not change between executions.
struct PlannedBuffer {
  uint32_t operand = 0;  // index in CodeInstruction::operands
  uint32_t reg = 0;
  uint32_t shape = 0;  // strided shape that the BufferRef's strides belong to
  LayoutIndex after = kNoLayout;
  int64_t bytes = 0;            // of a contiguous view
  bool ready = false;           // layouts are static and set in the BufferRef; no strides
  Allocation* bound = nullptr;  // set by the last bind_buffers(), for the checks right after it
};

/// Created at the first execution of an instruction on a rank, so that later executions allocate
/// nothing.
struct IssuePlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<BufferRef> refs;  // parallel to `buffers`
  ResolvedCall communication;
  bool communication_fixed = false;      // nothing in it depends on registers
  const Placement* allocated = nullptr;  // alloc with a static layout
  int64_t allocated_bytes = 0;
  // The backend's plan, and the placements (before and after, by buffer) it was made for.
  std::unique_ptr<TaskPlan> backend_plan;
  std::vector<const Placement*> planned_placements;
  bool backend_planned = false;
};

}  // namespace hostir::interp
