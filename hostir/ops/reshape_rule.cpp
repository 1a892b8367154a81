#include "hostir/ops/reshape_rule.h"

#include "hostir/ops/common.h"
#include "hostir/ops/size_factors.h"

namespace hostir::ops {

namespace {

bool is_zero(const IndexExpr& size) { return size.simplified() == IndexExpr(0); }

// The state of the walk over one shape.
struct Side {
  explicit Side(const Shape& shape) : dims(shape.size()) {
    for (const IndexExpr& size : shape) sizes.push_back(Monomial::of(size));
    load();
  }
  bool done() const { return at == sizes.size(); }
  bool is_unit() const { return !done() && sizes[at].is_one(); }
  void load() {
    if (!done()) left = sizes[at];
  }
  void next() {
    ++at;
    load();
  }
  void take(int factor, const Monomial& size) {
    dims[at].push_back(factor);
    left = left.divided_by(size);
    if (left.is_one()) next();
  }

  std::vector<Monomial> sizes;
  ShardingRule::TensorFactors dims;
  size_t at = 0;
  Monomial left;   // the rest of dimension `at`
  Monomial ahead;  // this side's product over the other's, without common factors
};

class Walk {
 public:
  Walk(const Shape& from, const Shape& to) : in_(from), out_(to) {}

  ShardingRule run() {
    while (!in_.done() || !out_.done()) step();
    ShardingRule rule;
    rule.operands = {std::move(in_.dims)};
    rule.results = {std::move(out_.dims)};
    rule.factor_sizes = std::move(sizes_);
    return rule;
  }

 private:
  bool aligned() const { return in_.ahead.is_one() && out_.ahead.is_one(); }

  int new_factor(const Monomial& size) {
    sizes_.push_back(size.expr());
    return static_cast<int>(sizes_.size()) - 1;
  }

  void step() {
    if (in_.is_unit() && out_.is_unit() && aligned()) return share(Monomial());
    if (in_.is_unit()) return take_alone(in_, Monomial());
    if (out_.is_unit()) return take_alone(out_, Monomial());
    if (!in_.done() && !out_.done() && aligned()) {
      const Monomial common = Monomial::gcd(in_.left, out_.left);
      return common.is_one() ? take_own(in_, out_) : share(common);
    }
    const bool in_is_behind = in_.ahead.magnitude() < out_.ahead.magnitude();
    if (!in_.done() && (out_.done() || in_is_behind)) return take_own(in_, out_);
    take_own(out_, in_);
  }

  void share(const Monomial& size) {
    const int factor = new_factor(size);
    in_.take(factor, size);
    out_.take(factor, size);
  }

  void take_alone(Side& side, const Monomial& size) { side.take(new_factor(size), size); }

  // Adds a factor to one side only: its common divisor with the other side's lead, or else the rest
  // of the dimension.
  void take_own(Side& side, Side& other) {
    Monomial size = Monomial::gcd(side.left, other.ahead);
    if (size.is_one()) size = side.left;
    side.ahead = side.ahead.times(size);
    take_alone(side, size);
    const Monomial common = Monomial::gcd(side.ahead, other.ahead);
    side.ahead = side.ahead.divided_by(common);
    other.ahead = other.ahead.divided_by(common);
  }

  Side in_;
  Side out_;
  std::vector<IndexExpr> sizes_;
};

// In a tensor without elements, only equal leading dimensions correspond.
ShardingRule empty_rule(const Shape& from, const Shape& to) {
  ShardingRule rule;
  size_t same = 0;
  while (same < from.size() && same < to.size() && same_size(from[same], to[same])) ++same;
  rule.factor_sizes = from;
  rule.operands = {one_to_one(0, from.size())};
  rule.results = {one_to_one(0, same)};
  for (size_t d = same; d < to.size(); ++d) {
    rule.results[0].push_back({rule.factor_count()});
    rule.factor_sizes.push_back(to[d]);
  }
  return rule;
}

}  // namespace

ShardingRule reshape_rule(const Shape& from, const Shape& to) {
  for (const Shape* shape : {&from, &to}) {
    for (const IndexExpr& size : *shape) {
      if (is_zero(size)) return empty_rule(from, to);
    }
  }
  return Walk(from, to).run();
}

}  // namespace hostir::ops
