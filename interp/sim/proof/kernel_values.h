// The values of a kernel on one rank: a token for each element.
#pragma once

#include <cstdint>
#include <optional>
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

class MovedValues;

/// Which of the two programs runs: the fusion on one rank, whose values are whole and are added to
/// the moved values, or the one that is compared with it.
enum class Side : uint8_t { kFusion, kProgram };

class KernelValues {
 public:
  /// All must outlive this. `tokens`: by value of the kernel.
  KernelValues(const Algebra& algebra, MovedValues& moved, Side side,
               const kernels::BoundKernel& kernel, std::vector<Tokens>& tokens)
      : a_(algebra), moved_(moved), side_(side), kernel_(kernel), tokens_(tokens) {}

  Tokens& operator[](ValueId v) { return tokens_[v.index]; }
  const Placement& placement(ValueId v) const { return kernel_.values[v.index]; }
  /// True if elements of this state have no place: constants, and what is not known.
  bool is_free(StateId s) const;
  void fill(ValueId value, Token token);
  /// The elements of `value` are a box of the state's value, which has this shape.
  void put(ValueId value, const Extents& shape, const Box& box, StateId state);
  /// The box that a value's tokens form; sets `why` if they do not form one.
  Block block_of(ValueId value, std::string& why) const;
  /// True if the tokens are constants, not known, or the box of the value that they are elements of
  /// which the layout says. `kToo`: or another box, in a program whose buffers have no layout.
  enum class Elsewhere : uint8_t { kNot, kToo };
  bool is_own_block(ValueId value, Elsewhere elsewhere) const;
  /// The value's tokens, but those that are not at their own place as elements of the block that
  /// `block_of` finds, if it finds one.
  Tokens in_block(ValueId value) const;

 private:
  /// The box of the state's own value that the tokens form, if they do.
  std::optional<Box> own_box(const Tokens& tokens, const Placement& place) const;

  const Algebra& a_;
  MovedValues& moved_;
  Side side_;
  const kernels::BoundKernel& kernel_;
  std::vector<Tokens>& tokens_;
};

}  // namespace hostir::sim::proof
