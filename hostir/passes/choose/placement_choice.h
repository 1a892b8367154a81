// Chooses the cheapest sharding of one op.
//
//   1. Candidates: merge the factor axes of the operands and results in different priority orders,
//      and make each legalized() under the op's rule. Axes of a factor that must be whole may cut
//      another one. In contractions, a few axes are tried in every place. One candidate has none.
//   2. Evaluate each candidate with all operands reduced, and again with those operands partial
//      that the op accepts as partial (PartialUse).
//   3. The cost of a candidate on the machine is the cost of resharding the operands, of the op on
//      its largest box, and of resharding the result to its request. A repeated operand counts
//      once. A partial result costs its reduce, or less if a later op can merge several reduces or
//      shrink the value first.
//   4. Take the cheapest; of nearly equal costs, the one with more parts, which saves memory. Take
//      partial operands only if that is cheaper than reducing them.
// This file only decides; reshard.h changes the fusion.
#pragma once

#include <optional>

#include "hostir/passes/choose/placement_key.h"
#include "hostir/passes/homes/axis_homes.h"
#include "hostir/passes/propagate/factors.h"

namespace hostir {

struct OpChoice {
  FactorCuts axes;
  std::vector<Sharding> operands;  // required sharding of each operand
  std::vector<Sharding> results;   // resulting sharding of each result
  bool expand = false;             // a reduction factor is cut and the record requires expansion
  int64_t parts = 1;               // number of parts of the work
  double cost_ns = 0;
  size_t collectives = 0;
};

/// The choices on one mesh, for one program, or for several that differ only in shardings and in
/// the number of ops.
struct KnownChoices {
  KeyNumbers numbers;
  std::unordered_map<std::string, OpChoice> by_key;
};

class OpChooser {
 public:
  /// All arguments must outlive this. `requests` is indexed by the values of `source`.
  OpChooser(const Program& program, const Function& source, Redistributor& moves,
            const std::vector<RequestedSharding>& requests, const ValueVersions& versions,
            const AxisHomes& homes, KnownChoices& known);

  /// Call once before the first choice, and whenever instructions have been added to `source`.
  void note_users() { users_.note(program_, source_); }
  /// Choices are cached: an op with the same key (placement_key.h) gets the same one. The reference
  /// is valid as long as `known`. Errors: those of the sharding rule.
  Expected<const OpChoice*> choose(const Instruction& instruction);
  /// What a choice costs beside those that lost, made `by` an op; nullopt where nothing moves and
  /// nothing could be better. Call it before versions of operands or results are added.
  std::optional<ExplainRecord> explained(const Instruction& instruction, const OpChoice& choice,
                                         const std::string& by) const;

 private:
  static constexpr int kLookahead = 8;  // maximum number of ops by which a reduce may be delayed
  struct Partial {
    std::vector<bool> operands;  // true: used as partial
    AxisList axes;
    Reduction kind = Reduction::kSum;
  };

  Expected<OpChoice> choose_uncached(const Instruction& instruction) const;
  struct Candidates {
    std::vector<FactorCuts> axes;
    size_t suggested = 0;  // number of leading ones that keep an operand's axes
  };
  Candidates candidates(const Instruction& i, const ShardingRule& rule) const;
  bool splits_sum(const Instruction& i) const;
  static PartialUse use_of(const OpCall& call, size_t operand, Reduction kind);
  std::optional<Partial> partial_operands(const Instruction& i) const;
  bool is_reduced_anyway(ValueId value, const Sharding& held) const;
  std::optional<OpChoice> evaluate(const Instruction& i, const ShardingRule& rule,
                                   const FactorCuts& axes, const Partial* partial,
                                   double limit_ns) const;
  bool shift_parts(const Instruction& i, const ShardingRule& rule, OpChoice& choice) const;
  bool same_parts(const DimSharding& a, const DimSharding& b, int64_t size) const;
  double result_cost(ValueId value, const Sharding& held) const;
  std::vector<OpChoice> considered(const Instruction& i) const;
  double bytes_moved(const Instruction& i, const OpChoice& choice) const;
  std::string choice_text(const Instruction& i, const OpChoice& choice) const;
  std::string costs_text(const Instruction& i, const OpChoice& choice) const;
  double future_cost(ValueId value, const Sharding& held, int depth) const;
  bool likely_partial(ValueId value, const AxisList& axes, int depth) const;
  std::optional<Sharding> needed_after(ValueId value) const;
  size_t collectives_after(ValueId value, const Sharding& held) const;
  double reduce_ns(ValueId value, const Sharding& held) const;
  double work_ns(const Instruction& i, const OpChoice& choice) const;
  Sharding sharding_of_operand(const Operand& o) const;

  const Program& program_;
  const Function& source_;
  Redistributor& moves_;
  const Mesh& mesh_;
  const std::vector<RequestedSharding>& requests_;
  const ValueVersions& versions_;
  const AxisHomes& homes_;
  ValueUsers users_;
  KnownChoices& known_;
  PlacementKeys keys_;
};

/// Why each rank has only an addend of result `r` of an op, named by `by`: operands are cut along
/// the summed dimension or are already partial.
ExplainRecord why_partial(const Function& source, const Instruction& i, const OpChoice& choice,
                          size_t r, const std::string& by);

}  // namespace hostir
