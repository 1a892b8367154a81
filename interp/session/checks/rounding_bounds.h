// How far the values of a sharded run may be from those of the unsharded run.
//
// Both compute the same, but add in another order, so a value may differ by a few roundings. The
// rounded numbers can be much larger than the value: 1e6 - 999999 is 1, with the error of 1e6. So
// each value has a scale, the largest number that was rounded on the way to it:
//   sums, products   the largest addend: of a product, the product of its factors' largest elements
//   other ops        as much larger than the value as it is for the worst operand
// A nonlinear op may make errors larger or smaller, by an unknown factor. There, and where elements
// are only picked, the tolerance stays below kMostRelative of the value, or the check would find
// nothing any more after a mask of -1e30. Equal operands give equal results, except where the order
// of an op's sum may differ.
//
// The default tolerance is that of one op. Roundings on the way to a value add up as independent
// errors do: the squares of their sizes. A sum of n addends rounds n times in f32 (f64 for f64),
// and every result is rounded to its dtype. Take the path with the largest sum of squares: if
// kDeviations times its root exceeds the default tolerance, the scale grows by the same factor.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ir/tensor.h"

namespace hostir::interp {

/// Replaces `coarsest` by a float dtype with fewer digits. False if it stays.
bool coarsen(std::optional<DType>& coarsest, std::optional<DType> other);

class RoundingBounds {
 public:
  static constexpr double kMostRelative = 0.05;
  static constexpr double kDeviations = 2;

  /// kSame: both runs execute the same ops, so only the order inside an op's sum may differ.
  /// kAnother: one may add, multiply or round in another order throughout.
  enum class Order : uint8_t { kSame, kAnother };
  explicit RoundingBounds(const Function& fusion, Order order = Order::kSame);

  /// Derives the results of an instruction from its operands.
  void add(const Instruction& i);
  /// The elements of a value, in the unsharded run.
  void set_known(ValueId value, const Tensor& tensor);
  /// A value that was computed elsewhere, from values that were rounded to `dtype`.
  void set_rounded(ValueId value, DType dtype);
  /// All elements had the same bits in both runs.
  void set_equal(ValueId value);

  /// The dtype with the fewest digits among those to which the value and its origins were rounded.
  std::optional<DType> of(ValueId value) const { return known_[value.index].dtype; }
  /// The largest number that was rounded on the way (at least the value's largest element),
  /// multiplied by the ratio of all roundings on the way to the default tolerance, if that is above
  /// 1.
  double scale(ValueId value) const;

 private:
  struct Rounding {
    bool may_differ = false;
    std::optional<DType> dtype;
    double largest = 0;  // the largest element, or a bound where no run has the value in a buffer
    double rounded = 0;  // the largest number rounded on the way
    std::optional<double> amplification = {};  // of `largest`: limits `rounded`
    double squares = 0;  // of relative roundings on the way, on the worst path

    double scale() const;
  };

  // How the numbers rounded for the operands appear in the result.
  enum class Effect : uint8_t { kAdded, kMultiplied, kPicked, kOther };
  static Effect effect_of(const Instruction& i);
  void find_largest(const Instruction& i, Effect effect, Rounding& out) const;
  double addends_of(const Instruction& i) const;
  static void add_roundings(Rounding& to, DType dtype, double addends);

  const Function& fusion_;
  const Order order_;
  std::vector<Rounding> known_;  // by ValueId
};

}  // namespace hostir::interp
