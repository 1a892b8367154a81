// Integer expressions: tensor sizes, loop bounds, slice bounds, conditions of `where`.
//
// An expression is a small immutable tree; copies share it, and a constant allocates nothing. Its
// leaves are constants, global sizes (`?B`), and run-time values of a rank: `rank`, `coord(a)`,
// `size(a)`, loop variables and integers read from a buffer. Two equal sums of products compare
// equal after `simplified()`, however they were written. Overflow of int64 is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir {

class IndexExpr {
 public:
  enum class Kind : uint8_t {
    kConst,     // value
    kSize,      // ?NAME, a global size
    kName,      // %name: a loop variable or an integer value in the host function
    kRank,      // rank
    kCoord,     // coord(axis)
    kAxisSize,  // size(axis)
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
    kMin,
    kMax,  // kDiv is floor division
    kEq,
    kNe,
    kLt,
    kLe,
    kGt,
    kGe,  // 1 or 0
    kAnd,
    kOr,  // && and ||
  };

  IndexExpr() = default;
  IndexExpr(int64_t value) : value_(value) {}  // NOLINT: implicit, so sizes can be plain integers
  static IndexExpr size(std::string name);
  static IndexExpr name(std::string name);
  static IndexExpr rank();
  static IndexExpr coord(std::string axis);
  static IndexExpr axis_size(std::string axis);
  static IndexExpr binary(Kind kind, IndexExpr a, IndexExpr b);

  Kind kind() const { return kind_; }
  bool is_const() const { return kind_ == Kind::kConst; }
  int64_t value() const { return value_; }     // of a constant
  const std::string& symbol() const;           // of a size, name, coord or axis size; else empty
  const std::vector<IndexExpr>& args() const;  // two for binary kinds, else none

  /// Returns the value of a leaf; nullopt if it is unknown.
  using Lookup = std::function<std::optional<int64_t>(const IndexExpr& leaf)>;

  /// The value. Errors: `index_unbound` (names the unknown leaf), `index_div0`, `index_overflow`.
  Expected<int64_t> evaluate(const Lookup& lookup) const;

  /// Replaces known leaves, folds constants, and puts sums and products in canonical order.
  IndexExpr simplified(const Lookup& lookup = {}) const;

  /// Calls `f` for every leaf that is not a constant.
  void for_each_leaf(const std::function<void(const IndexExpr&)>& f) const;

  /// Canonical text without outer parentheses: `?B*?S`, `coord(tp) + 1`, `%i`.
  std::string to_string() const;

  friend bool operator==(const IndexExpr& a, const IndexExpr& b) {
    if (a.kind_ != b.kind_ || a.value_ != b.value_) return false;
    return a.node_ == b.node_ || same_nodes(a, b);
  }

 private:
  struct Node;

  static IndexExpr leaf(Kind kind, std::string symbol);
  static bool same_nodes(const IndexExpr& a, const IndexExpr& b);

  Kind kind_ = Kind::kConst;
  int64_t value_ = 0;
  std::shared_ptr<const Node> node_;  // null: no symbol and no arguments
};

/// The dimensions of a tensor; may be symbolic.
using Shape = std::vector<IndexExpr>;
/// The dimensions of a tensor, all known.
using Extents = std::vector<int64_t>;

/// The extents, or nullopt unless every size simplifies to a constant.
std::optional<Extents> constant_extents(const Shape& shape);
/// Product of the extents (1 for rank 0); nullopt if it overflows int64.
std::optional<int64_t> element_count(const Extents& extents);
/// The elements of several tensors together; nullopt if the count overflows int64.
std::optional<int64_t> total_elements(const std::vector<Extents>& tensors);

/// Values of the symbolic sizes in one run (`?B` -> 8).
class SizeBindings {
 public:
  std::optional<int64_t> find(std::string_view name) const;
  /// Returns false if the name is already bound to a different value.
  bool bind(std::string_view name, int64_t value);
  const std::vector<std::pair<std::string, int64_t>>& all() const { return sizes_; }
  IndexExpr::Lookup lookup() const;

 private:
  std::vector<std::pair<std::string, int64_t>> sizes_;  // sorted by name
};

}  // namespace hostir
