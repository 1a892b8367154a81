// Sizes as monomials, for the sharding rule of reshape.
//
// A monomial is a positive number times symbols (`6*?B*?S`). A size that is not a product (`?B +
// 1`) counts as one symbol. Only greatest common divisors and exact division are provided. Zero is
// not a monomial.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/index_expr.h"

namespace hostir::ops {

class Monomial {
 public:
  Monomial() = default;  // 1
  /// The monomial of a size, which must not be 0.
  static Monomial of(const IndexExpr& size);

  bool is_one() const { return number_ == 1 && symbols_.empty(); }
  Monomial times(const Monomial& other) const;
  /// `other` must divide this.
  Monomial divided_by(const Monomial& other) const;
  /// A sort key: the number itself, with each symbol counting as a large number.
  double magnitude() const;
  IndexExpr expr() const;

  static Monomial gcd(const Monomial& a, const Monomial& b);

 private:
  struct Symbol {
    std::string key;
    IndexExpr expr;
  };
  void add(const IndexExpr& size);
  void sort();

  int64_t number_ = 1;
  std::vector<Symbol> symbols_;  // sorted by key, with repetitions
};

}  // namespace hostir::ops
