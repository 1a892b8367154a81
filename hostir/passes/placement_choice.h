// How one op is cut: the choice that costs least.
//
//   1. Candidates: the factors' axes as each order of operands and result would have them, each
//      legalized() under the op's rule; and no axes at all.
//   2. Each candidate once with all operands reduced, and once with the partial operands that the
//      op takes partial (PartialUse).
//   3. The cost of a candidate on the machine: bringing the operands there, the op itself on the
//      largest box, and bringing the result to what is wanted of it. An operand that is there twice
//      is brought once. A result that stays partial costs its reduce, or less where a later op lets
//      several reduces become one or makes fewer bytes of it.
//   4. Of the cuts into equally many parts the one that costs least. Fewer parts only where that
//      costs less than half: a cut that is there also divides the memory, and the estimate is
//      rough. With partial operands only if that is less than with reduced ones.
// Absent here: changing anything (reshard.h).
#pragma once

#include <optional>

#include "hostir/passes/factors.h"
#include "hostir/passes/versions.h"

namespace hostir {

struct OpChoice {
  FactorAxes axes;
  std::vector<Sharding> operands;  // what each operand must be held as
  std::vector<Sharding> results;   // what the op then gives
  bool expand = false;             // a reduction factor is cut and the record wants it expanded
  int64_t parts = 1;               // that the work is divided into
  double cost_ns = 0;
};

/// What is wanted of a value: dimensions as propagated, and whether that is an order.
struct Wish {
  Sharding sharding;
  bool fixed = false;
  bool returned_partial = false;  // a declared result is partial as the wish says
};

class OpChooser {
 public:
  /// All must outlive this. `wishes` by value of `source`.
  OpChooser(const Program& program, const Function& source, Redistributor& moves,
            const std::vector<Wish>& wishes, const Versions& versions);

  /// To be called whenever instructions were added to `source`, and once before the first choice.
  void note_users();
  /// Errors: those of the rule.
  Expected<OpChoice> choose(const Instruction& instruction) const;

 private:
  struct Partial {
    std::vector<bool> operands;  // consumed partial
    AxisList axes;
    Reduction kind = Reduction::kSum;
  };

  std::vector<FactorAxes> candidates(const Instruction& i, const ShardingRule& rule) const;
  std::optional<Partial> partial_operands(const Instruction& i) const;
  std::optional<OpChoice> evaluate(const Instruction& i, const ShardingRule& rule,
                                   const FactorAxes& axes, const Partial* partial) const;
  double result_cost(ValueId value, const Sharding& held) const;
  double future_cost(ValueId value, const Sharding& held, int depth) const;
  bool likely_partial(ValueId value, const AxisList& axes, int depth) const;
  double reduce_ns(ValueId value, const Sharding& held) const;
  double work_ns(const Instruction& i, const OpChoice& choice) const;
  Sharding sharding_of_operand(const Operand& o) const;

  const Program& program_;
  const Function& source_;
  Redistributor& moves_;
  const Mesh& mesh_;
  const std::vector<Wish>& wishes_;
  const Versions& versions_;
  // Who uses a value of `source`: one instruction, or several.
  struct Users {
    InstrId first;
    bool several = false;
  };
  std::vector<Users> users_;  // by value
  size_t noted_ = 0;          // instructions of `source` that users_ knows
};

}  // namespace hostir
