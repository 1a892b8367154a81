// Operands of an instruction on a rank: index expressions, placements, buffers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "interp/core/engine/faults.h"
#include "interp/core/engine/issue_plan.h"

namespace hostir::interp {

class Operands {
 public:
  Operands(RunContext& run, FaultReporter& faults);

  /// False after a fault: the expression divides by zero or overflows.
  bool evaluate(const Step& step, IndexCodeId expr, int64_t& out);
  void move_registers(RankState& rank, const std::vector<RegisterMove>& moves) {
    if (moves.size() > 1) return move_many(rank, moves);
    for (const RegisterMove& m : moves) {
      rank.registers[m.to] = m.from == kNoRegister ? Register{} : rank.registers[m.from];
    }
  }
  /// The placement of a layout on the rank; nullptr after a fault (a size that is negative or does
  /// not fit).
  const Placement* placement(const Step& step, LayoutIndex layout);

  /// The allocation behind an operand, checked to be alive; nullptr after a fault.
  Allocation* open(const Step& step, uint32_t operand);
  /// The buffer a name refers to; nullopt if its allocation is gone.
  std::optional<BufferRef> buffer_of(const RankState& rank, const Register& name) const;

  IssuePlan& plan(const Step& step) {
    IssuePlan* known = plan_at(step).get();
    return known != nullptr ? *known : make_plan(step);
  }
  /// Fills the plan's BufferRefs for this execution and checks lifetime and bounds. False after a
  /// fault.
  bool bind_buffers(const Step& step, IssuePlan& plan);

 private:
  std::unique_ptr<IssuePlan>& plan_at(const Step& step) {
    return plans_[static_cast<size_t>(step.index) * run_.state.ranks.size() +
                  static_cast<size_t>(step.rank)];
  }
  IssuePlan& make_plan(const Step& step);
  void move_many(RankState& rank, const std::vector<RegisterMove>& moves);
  /// True if the buffer that a register with a slot names has not been freed or given away.
  static bool names_live(const RankState& rank, const Register& name);
  bool bind_slowly(const Step& step, PlannedBuffer& planned, BufferRef& ref, const Register& name);
  bool refuse(const Step& step, const PlannedBuffer& planned, const BufferRef& ref);

  RunContext& run_;
  FaultReporter& faults_;
  std::vector<std::unique_ptr<IssuePlan>> plans_;  // by code * rank_count() + rank
  std::map<std::vector<int64_t>, const Placement*> dynamic_index_;
  std::vector<Register> move_scratch_;
};

}  // namespace hostir::interp
