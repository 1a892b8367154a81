#include "hostir/ops/size_factors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hostir::ops {

namespace {

// Saturates: no tensor has such a size, but overflow must not be undefined behaviour.
int64_t multiplied(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

}  // namespace

void Monomial::add(const IndexExpr& size) {
  if (size.is_const()) {
    number_ = multiplied(number_, size.value());
  } else if (size.kind() == IndexExpr::Kind::kMul) {
    for (const IndexExpr& factor : size.args()) add(factor);
  } else {
    symbols_.push_back({size.to_string(), size});
  }
}

void Monomial::sort() {
  std::sort(symbols_.begin(), symbols_.end(),
            [](const Symbol& a, const Symbol& b) { return a.key < b.key; });
}

Monomial Monomial::of(const IndexExpr& size) {
  Monomial result;
  result.add(size.simplified());
  result.sort();
  return result;
}

Monomial Monomial::times(const Monomial& other) const {
  Monomial result = *this;
  result.number_ = multiplied(number_, other.number_);
  result.symbols_.insert(result.symbols_.end(), other.symbols_.begin(), other.symbols_.end());
  result.sort();
  return result;
}

Monomial Monomial::divided_by(const Monomial& other) const {
  Monomial result = *this;
  result.number_ /= other.number_;
  for (const Symbol& symbol : other.symbols_) {
    const auto at = std::find_if(result.symbols_.begin(), result.symbols_.end(),
                                 [&](const Symbol& s) { return s.key == symbol.key; });
    if (at != result.symbols_.end()) result.symbols_.erase(at);
  }
  return result;
}

double Monomial::magnitude() const {
  constexpr double kSymbol = 1024.0;
  return static_cast<double>(number_) * std::pow(kSymbol, static_cast<double>(symbols_.size()));
}

IndexExpr Monomial::expr() const {
  IndexExpr result = number_;
  for (const Symbol& symbol : symbols_) {
    result = IndexExpr::binary(IndexExpr::Kind::kMul, std::move(result), symbol.expr);
  }
  return result.simplified();
}

Monomial Monomial::gcd(const Monomial& a, const Monomial& b) {
  Monomial result;
  result.number_ = std::gcd(a.number_, b.number_);
  std::set_intersection(a.symbols_.begin(), a.symbols_.end(), b.symbols_.begin(), b.symbols_.end(),
                        std::back_inserter(result.symbols_),
                        [](const Symbol& x, const Symbol& y) { return x.key < y.key; });
  return result;
}

}  // namespace hostir::ops
