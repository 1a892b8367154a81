// Sizes as products: what the sharding rule of reshape calculates with.
//
// A monomial is a positive number times symbols (`6*?B*?S`); sizes that are no product (`?B + 1`)
// count as one symbol. Greatest common divisors and exact division are all that is needed. Zero is
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
  /// Of a size that is not 0.
  static Monomial of(const IndexExpr& size);

  bool is_one() const { return number_ == 1 && symbols_.empty(); }
  Monomial times(const Monomial& other) const;
  /// `other` must divide this.
  Monomial divided_by(const Monomial& other) const;
  /// An order that agrees with the size where both are numbers; a symbol counts as a large one.
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
