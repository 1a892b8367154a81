// Instruction attributes: named values, checked against the op's record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/tensor.h"
#include "hostir/ir/type.h"

namespace hostir {

/// A reference to a symbol, `@name`, stored without the '@'.
struct Symbol {
  std::string name;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};
/// One of a fixed set of words listed in the op's record: `tanh`, `lt`.
struct Keyword {
  std::string word;
  friend bool operator==(const Keyword&, const Keyword&) = default;
};

using IntList = std::vector<int64_t>;
using IntLists = std::vector<std::vector<int64_t>>;  // groups, permute pairs
using ExprList = std::vector<IndexExpr>;             // slice bounds, counts
using AxisList = std::vector<AxisRef>;

using Attribute =
    std::variant<bool, int64_t, double, std::string, Keyword, Symbol, IndexExpr, IntList, IntLists,
                 ExprList, AxisList, DType, Reduction, Sharding, Type, Tensor>;

/// Attributes by name, in the order in which the op's record declares them.
class Attributes {
 public:
  Attributes();  // out of line: copying the variant is expensive to compile
  Attributes(const Attributes&);
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(const Attributes&);
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();

  const Attribute* find(std::string_view name) const;
  void set(std::string_view name, Attribute value);
  void erase(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool empty() const { return entries_.empty(); }
  const std::vector<std::pair<std::string, Attribute>>& entries() const { return entries_; }

  /// The attribute as a T, or nullptr if it is missing or has another type.
  template <class T>
  const T* get(std::string_view name) const {
    const Attribute* a = find(name);
    return a ? std::get_if<T>(a) : nullptr;
  }
  template <class T>
  T get_or(std::string_view name, T fallback) const {
    const T* value = get<T>(name);
    return value ? *value : fallback;
  }

  friend bool operator==(const Attributes&, const Attributes&);

 private:
  std::vector<std::pair<std::string, Attribute>> entries_;
};

}  // namespace hostir
