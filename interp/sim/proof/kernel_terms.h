// Derives what the results of a kernel stand for from its operands, op by op.
//
// Pointwise ops work element by element. For other ops the operands must be blocks: one box of one
// value, in row-major order. The op's sharding rule then gives the box of the result, and the sums
// over cut dimensions become the result's cover.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "interp/sim/proof/algebra.h"
#include "kernels/common/bound_kernel.h"

namespace hostir::sim::proof {

/// An element: the state of its value and its index in that value (0 for constants).
struct Token {
  static constexpr int kIndexBits = 40;
  static constexpr uint64_t kIndexMask = (uint64_t{1} << kIndexBits) - 1;
  uint64_t bits = 0;
  static Token of(StateId state, int64_t index) {
    return {(uint64_t{state} << kIndexBits) | static_cast<uint64_t>(index)};
  }
  StateId state() const { return static_cast<StateId>(bits >> kIndexBits); }
  int64_t index() const { return static_cast<int64_t>(bits & kIndexMask); }
  friend bool operator==(const Token&, const Token&) = default;
};
using Tokens = std::vector<Token>;  // of a rank's part, row-major

/// All values of a launch on one rank. `kernel` is bound for this rank; a kernel with a sharding
/// rule of its own counts as one op, and `kernel` has the boxes of the whole values. `values` has
/// the parameters' tokens on entry, and all values' on return. Returns the kernels whose own rules
/// it assumed to be correct, because they were applied to parts of values.
std::set<std::string> evaluate(Algebra& algebra, const Program& program,
                               const kernels::BoundKernel& kernel, std::vector<Tokens>& values);

}  // namespace hostir::sim::proof
