// The form and state of an op's results, from those of its operands.
//
// Sums, differences and constant factors are normalised (algebra.h). An op that the records call
// linear in an operand passes on factors and pieces of that operand; any other use of a partial
// value is wrong, because the op of a part is not a part of the op.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
#include "interp/sim/proof/algebra.h"
#include "kernels/common/bound_kernel.h"

namespace hostir::sim::proof {

/// The mnemonic, with everything else that the result depends on besides the operands and the
/// node's shape.
std::string key_of(const Instruction& i);

class OpForms {
 public:
  OpForms(Algebra& algebra, const Program& program, const kernels::BoundKernel& kernel)
      : a_(algebra), program_(program), kernel_(kernel) {}

  /// The op on values of the kernel's global shapes, which go to `types`.
  OpCall call_of(const Instruction& i, std::vector<Type>& types) const;
  /// The state of result `result`, of global shape `shape`. `cuts`: the ranges over which this rank
  /// sums, with `reduction`, where these are not whole.
  StateId state_of(const Instruction& i, const std::vector<StateId>& operands, size_t result,
                   const Extents& shape, const std::vector<Cut>& cuts, Reduction reduction);

 private:
  FormId node_form(const Instruction& i, const std::vector<FormId>& operands, size_t result,
                   const Extents& shape);
  /// True if the op is linear in the operand, with the other operands fixed.
  bool is_linear(const Instruction& i, size_t operand) const;
  FormId form_of(const Instruction& i, const std::vector<FormId>& f, size_t result,
                 const Extents& shape);
  FormId product(const Instruction& i, const std::vector<FormId>& f, const Extents& shape);
  /// A contraction of an operand that is scaled along dimensions which the result has, scaled
  /// afterwards: attention may divide its weights or its result.
  std::optional<FormId> scaled_after(const Instruction& i, const std::vector<FormId>& f,
                                     const Extents& shape);
  std::optional<FormId> spread_to(FormId form, const ShardingRule& rule, size_t o,
                                  const Extents& shape);
  /// Applies an op that is linear in its one operand to each term.
  FormId linear(const Instruction& i, FormId operand, size_t result, const Extents& shape);

  Algebra& a_;
  const Program& program_;
  const kernels::BoundKernel& kernel_;
};

}  // namespace hostir::sim::proof
