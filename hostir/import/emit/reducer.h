// Reducers: recognised by their region, or applied as written.
#pragma once

#include "hostir/import/emit/emitter.h"
#include "hostir/ir/op_kind.h"

namespace hostir::importer {

enum class ReducerKind : uint8_t { kSum, kProd, kMax, kMin, kAnd, kOr };

/// The kind of a reduce, all_reduce, reduce_scatter or scatter, from `applies` or from a region
/// with one operation on its arguments. nullopt if not recognised, and for bitwise operations.
std::optional<ReducerKind> reducer_of(const ModuleFunction& function, const ModuleOp& op,
                                      size_t region = 0);
/// The kind of a reduce over (values, indices) that computes the extreme with the smallest index:
/// argmax or argmin.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op);
/// True if `init` is the identity of the reduction kind.
bool is_identity_of(ReducerKind kind, const Known& init);
/// The op that combines two values under this kind.
OpKind combining_op(ReducerKind kind, bool is_bool);

/// A region on scalars, applied to tensors of one shape element by element.
class ElementwiseRegion {
 public:
  /// Region `index` of the operation.
  explicit ElementwiseRegion(const OpSite& site, size_t index = 0);

  /// False if some operation of the region does not work element by element.
  bool is_valid() const { return valid_; }
  Expected<std::vector<Known>> operator()(std::vector<Known> arguments) const;

 private:
  const OpSite& site_;
  size_t index_;
  bool valid_;
};

/// Combines the values of a reduction with any number of operands.
class Combiner {
 public:
  /// The reducer is region `index`, or `applies`.
  explicit Combiner(const OpSite& site, size_t index = 0);

  bool is_valid() const { return kind_ || bitwise_ || region_.is_valid(); }
  /// Set if the reducer is a single operation.
  std::optional<ReducerKind> kind() const { return kind_; }
  /// One value per operand of the reduction.
  Expected<std::vector<Known>> operator()(std::vector<Known> left, std::vector<Known> right) const;

 private:
  const OpSite& site_;
  std::optional<ReducerKind> kind_;
  std::optional<OpKind> bitwise_;  // of integers; it has no ReducerKind
  ElementwiseRegion region_;
};

}  // namespace hostir::importer
