// The values of a kernel on one rank: a token for each element.
#pragma once

#include <cstdint>
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

/// A box of one value, in row-major order.
struct Block {
  StateId state = Algebra::kZero;
  Box box;
  bool is_free = false;  // constant or empty: the same everywhere
};

/// The row-major index in a box; -1 outside.
int64_t offset_in(const Box& box, const std::vector<int64_t>& at);

class KernelValues {
 public:
  /// All must outlive this. `tokens`: by value of the kernel.
  KernelValues(const Algebra& algebra, const kernels::BoundKernel& kernel,
               std::vector<Tokens>& tokens)
      : a_(algebra), kernel_(kernel), tokens_(tokens) {}

  Tokens& operator[](ValueId v) { return tokens_[v.index]; }
  const Placement& placement(ValueId v) const { return kernel_.values[v.index]; }
  /// True if elements of this state have no place: constants, and what is not known.
  bool is_free(StateId s) const;
  void fill(ValueId value, Token token);
  /// The elements of `value` are a box of the state's value, which has this shape.
  void put(ValueId value, const Extents& shape, const Box& box, StateId state);
  /// The box that a value's tokens form; sets `why` if they do not form one.
  Block block_of(ValueId value, std::string& why) const;

 private:
  const Algebra& a_;
  const kernels::BoundKernel& kernel_;
  std::vector<Tokens>& tokens_;
};

}  // namespace hostir::sim::proof
