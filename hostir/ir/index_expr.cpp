#include "hostir/ir/index_expr.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "hostir/ir/index_arithmetic.h"

namespace hostir {

namespace {

using Kind = IndexExpr::Kind;

bool is_leaf(Kind kind) { return kind < Kind::kAdd; }

std::string_view operator_text(Kind kind) {
  constexpr std::array<std::string_view, 15> kTexts = {
      "+", "-", "*", "/", "%", "min", "max", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kTexts[static_cast<size_t>(kind) - static_cast<size_t>(Kind::kAdd)];
}

// Operator precedence as in the parser; a larger number binds tighter.
int precedence(Kind kind) {
  switch (kind) {
    case Kind::kOr:
      return 1;
    case Kind::kAnd:
      return 2;
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
      return 3;
    case Kind::kAdd:
    case Kind::kSub:
      return 4;
    case Kind::kMul:
    case Kind::kDiv:
    case Kind::kMod:
      return 5;
    case Kind::kConst:
    case Kind::kSize:
    case Kind::kName:
    case Kind::kRank:
    case Kind::kCoord:
    case Kind::kAxisSize:
    case Kind::kMin:
    case Kind::kMax:
      return 6;
  }
  return 6;
}

// A sum of products maps the text of the sorted factors to a coefficient and the factors.
struct Factor {
  std::string text;
  IndexExpr expr;
};
struct Term {
  int64_t coefficient = 0;
  std::vector<Factor> factors;
};
using Polynomial = std::map<std::string, Term>;

// `factors` must be sorted by text.
bool add_term(Polynomial& poly, int64_t coefficient, std::vector<Factor> factors) {
  std::string key;
  for (const Factor& f : factors) key += f.text + "*";
  const auto at = poly.try_emplace(std::move(key)).first;
  Term& term = at->second;
  if (__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient)) return false;
  term.factors = std::move(factors);
  if (term.coefficient == 0) poly.erase(at);
  return true;
}

bool expand(const IndexExpr& e, int64_t coefficient, Polynomial& out);

bool expand_product(const IndexExpr& e, int64_t coefficient, Polynomial& out) {
  Polynomial a;
  Polynomial b;
  if (!expand(e.args()[0], coefficient, a) || !expand(e.args()[1], 1, b)) return false;
  if (a.size() * b.size() > 64) return false;
  for (const auto& [ka, ta] : a) {
    for (const auto& [kb, tb] : b) {
      int64_t c = 0;
      if (__builtin_mul_overflow(ta.coefficient, tb.coefficient, &c)) return false;
      std::vector<Factor> factors;
      std::merge(ta.factors.begin(), ta.factors.end(), tb.factors.begin(), tb.factors.end(),
                 std::back_inserter(factors),
                 [](const Factor& x, const Factor& y) { return x.text < y.text; });
      if (!add_term(out, c, std::move(factors))) return false;
    }
  }
  return true;
}

// Adds coefficient * e to `out`; for a sum the coefficient is 1 or -1. Visits each term once.
bool expand(const IndexExpr& e, int64_t coefficient, Polynomial& out) {
  switch (e.kind()) {
    case Kind::kConst: {
      int64_t c = 0;
      if (__builtin_mul_overflow(e.value(), coefficient, &c)) return false;
      return c == 0 || add_term(out, c, {});
    }
    case Kind::kAdd:
      return expand(e.args()[0], coefficient, out) && expand(e.args()[1], coefficient, out);
    case Kind::kSub:
      return expand(e.args()[0], coefficient, out) && expand(e.args()[1], -coefficient, out);
    case Kind::kMul:
      return expand_product(e, coefficient, out);
    case Kind::kSize:
    case Kind::kName:
    case Kind::kRank:
    case Kind::kCoord:
    case Kind::kAxisSize:
    case Kind::kDiv:
    case Kind::kMod:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
    case Kind::kAnd:
    case Kind::kOr:
      return add_term(out, coefficient, {{e.to_string(), e}});
  }
  return false;
}

// INT64_MIN has no positive counterpart, so it cannot be printed as a sign and a magnitude.
bool has_least_integer(const Polynomial& poly) {
  return std::any_of(poly.begin(), poly.end(),
                     [](const auto& entry) { return entry.second.coefficient == INT64_MIN; });
}

IndexExpr product_of(int64_t coefficient, const std::vector<Factor>& factors) {
  std::optional<IndexExpr> result;
  for (const Factor& f : factors) {
    result = result ? IndexExpr::binary(Kind::kMul, std::move(*result), f.expr) : f.expr;
  }
  if (!result) return coefficient;
  if (coefficient == 1) return *result;
  return IndexExpr::binary(Kind::kMul, std::move(*result), coefficient);
}

// Rebuilds the expression: positive terms in key order, then negative ones, then the constant.
IndexExpr rebuild(const Polynomial& poly) {
  std::optional<IndexExpr> result;
  int64_t constant = 0;
  for (const int64_t sign : {int64_t{1}, int64_t{-1}}) {
    for (const auto& [key, term] : poly) {
      if (term.factors.empty()) {
        constant = term.coefficient;
      } else if ((term.coefficient > 0) == (sign > 0)) {
        IndexExpr p = product_of(result ? term.coefficient * sign : term.coefficient, term.factors);
        result = result ? IndexExpr::binary(sign > 0 ? Kind::kAdd : Kind::kSub, std::move(*result),
                                            std::move(p))
                        : std::move(p);
      }
    }
  }
  if (!result) return constant;
  if (constant == 0) return *result;
  return IndexExpr::binary(constant > 0 ? Kind::kAdd : Kind::kSub, std::move(*result),
                           constant > 0 ? constant : -constant);
}

}  // namespace

struct IndexExpr::Node {
  std::string symbol;
  std::vector<IndexExpr> args;
};

const std::string& IndexExpr::symbol() const {
  static const std::string kNone;
  return node_ ? node_->symbol : kNone;
}

const std::vector<IndexExpr>& IndexExpr::args() const {
  static const std::vector<IndexExpr> kNone;
  return node_ ? node_->args : kNone;
}

bool IndexExpr::same_nodes(const IndexExpr& a, const IndexExpr& b) {
  return a.symbol() == b.symbol() && a.args() == b.args();
}

IndexExpr IndexExpr::leaf(Kind kind, std::string symbol) {
  IndexExpr e;
  e.kind_ = kind;
  e.node_ = std::make_shared<const Node>(Node{std::move(symbol), {}});
  return e;
}

IndexExpr IndexExpr::size(std::string name) { return leaf(Kind::kSize, std::move(name)); }

IndexExpr IndexExpr::name(std::string name) { return leaf(Kind::kName, std::move(name)); }

IndexExpr IndexExpr::rank() {
  IndexExpr e;
  e.kind_ = Kind::kRank;
  return e;
}

IndexExpr IndexExpr::coord(std::string axis) { return leaf(Kind::kCoord, std::move(axis)); }

IndexExpr IndexExpr::axis_size(std::string axis) { return leaf(Kind::kAxisSize, std::move(axis)); }

IndexExpr IndexExpr::binary(Kind kind, IndexExpr a, IndexExpr b) {
  IndexExpr e;
  e.kind_ = kind;
  Node node;
  node.args.reserve(2);
  node.args.push_back(std::move(a));
  node.args.push_back(std::move(b));
  e.node_ = std::make_shared<const Node>(std::move(node));
  return e;
}

Expected<int64_t> IndexExpr::evaluate(const Lookup& lookup) const {
  if (is_const()) return value_;
  if (is_leaf(kind_)) {
    const auto value = lookup ? lookup(*this) : std::nullopt;
    if (value) return *value;
    return fail(ErrorKind::kInvalid, "index_unbound", to_string() + " has no value here");
  }
  HOSTIR_ASSIGN_OR_RETURN(const int64_t a, args()[0].evaluate(lookup));
  HOSTIR_ASSIGN_OR_RETURN(const int64_t b, args()[1].evaluate(lookup));
  if (int64_t result = 0; apply_index_op(kind_, a, b, result)) return result;
  if ((kind_ == Kind::kDiv || kind_ == Kind::kMod) && b == 0) {
    return fail(ErrorKind::kInvalid, "index_div0", "division by zero in " + to_string());
  }
  return fail(ErrorKind::kInvalid, "index_overflow", to_string() + " overflows 64 bits");
}

namespace {

bool is_polynomial(Kind kind) {
  return kind == Kind::kAdd || kind == Kind::kSub || kind == Kind::kMul;
}

// Replaces known leaves and folds constants. Sums and products keep their order: the caller sorts
// the outermost one once instead of sorting at every level.
IndexExpr folded(const IndexExpr& e, const IndexExpr::Lookup& lookup) {
  if (e.is_const()) return e;
  if (is_leaf(e.kind())) {
    const auto value = lookup ? lookup(e) : std::nullopt;
    return value ? IndexExpr(*value) : e;
  }
  const auto argument = [&](size_t i) {
    return is_polynomial(e.kind()) ? folded(e.args()[i], lookup) : e.args()[i].simplified(lookup);
  };
  IndexExpr a = argument(0);
  IndexExpr b = argument(1);
  if (a.is_const() && b.is_const()) {
    if (int64_t value = 0; apply_index_op(e.kind(), a.value(), b.value(), value)) return value;
  } else if (e.kind() == Kind::kDiv && b == IndexExpr(1)) {
    return a;
  } else if ((e.kind() == Kind::kMin || e.kind() == Kind::kMax) && a == b) {
    return a;
  }
  return IndexExpr::binary(e.kind(), std::move(a), std::move(b));
}

}  // namespace

IndexExpr IndexExpr::simplified(const Lookup& lookup) const {
  if (is_const()) return *this;
  IndexExpr e = folded(*this, lookup);
  if (!is_polynomial(e.kind_)) return e;
  Polynomial poly;
  return expand(e, 1, poly) && !has_least_integer(poly) ? rebuild(poly) : e;
}

void IndexExpr::for_each_leaf(const std::function<void(const IndexExpr&)>& f) const {
  if (is_const()) return;
  if (is_leaf(kind_)) {
    f(*this);
    return;
  }
  for (const IndexExpr& a : args()) a.for_each_leaf(f);
}

std::string IndexExpr::to_string() const {
  switch (kind_) {
    case Kind::kConst:
      return std::to_string(value_);
    case Kind::kSize:
      return "?" + symbol();
    case Kind::kName:
      return "%" + symbol();
    case Kind::kRank:
      return "rank";
    case Kind::kCoord:
      return "coord(" + symbol() + ")";
    case Kind::kAxisSize:
      return "size(" + symbol() + ")";
    case Kind::kMin:
    case Kind::kMax:
      return std::string(operator_text(kind_)) + "(" + args()[0].to_string() + ", " +
             args()[1].to_string() + ")";
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul:
    case Kind::kDiv:
    case Kind::kMod:
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
    case Kind::kGt:
    case Kind::kGe:
    case Kind::kAnd:
    case Kind::kOr:
      break;
  }
  const int own = precedence(kind_);
  const auto side = [&](const IndexExpr& e, bool right) {
    const int inner = precedence(e.kind());
    const bool comparison = own == 3 && inner == 3;
    const bool wrap = inner < own || comparison || (right && inner == own);
    return wrap ? "(" + e.to_string() + ")" : e.to_string();
  };
  const std::string_view op = operator_text(kind_);
  const std::string separator = kind_ == Kind::kMul ? "*" : " " + std::string(op) + " ";
  return side(args()[0], false) + separator + side(args()[1], true);
}

std::optional<Extents> constant_extents(const Shape& shape) {
  Extents extents;
  for (const IndexExpr& e : shape) {
    const IndexExpr s = e.simplified();
    if (!s.is_const() || s.value() < 0) return std::nullopt;
    extents.push_back(s.value());
  }
  return extents;
}

std::optional<int64_t> element_count(const Extents& extents) {
  int64_t count = 1;
  bool zero = false;
  for (const int64_t e : extents) {
    if (e == 0) zero = true;
    if (e > 0 && __builtin_mul_overflow(count, e, &count)) return std::nullopt;
  }
  return zero ? 0 : count;
}

std::optional<int64_t> total_elements(const std::vector<Extents>& tensors) {
  int64_t all = 0;
  for (const Extents& extents : tensors) {
    const auto n = element_count(extents);
    if (!n || __builtin_add_overflow(all, *n, &all)) return std::nullopt;
  }
  return all;
}

std::optional<int64_t> SizeBindings::find(std::string_view name) const {
  const auto at =
      std::lower_bound(sizes_.begin(), sizes_.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  return at != sizes_.end() && at->first == name ? std::optional(at->second) : std::nullopt;
}

bool SizeBindings::bind(std::string_view name, int64_t value) {
  const auto at =
      std::lower_bound(sizes_.begin(), sizes_.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  if (at != sizes_.end() && at->first == name) return at->second == value;
  sizes_.insert(at, {std::string(name), value});
  return true;
}

IndexExpr::Lookup SizeBindings::lookup() const {
  return [this](const IndexExpr& leaf) -> std::optional<int64_t> {
    return leaf.kind() == IndexExpr::Kind::kSize ? find(leaf.symbol()) : std::nullopt;
  };
}

}  // namespace hostir
