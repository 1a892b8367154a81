// Appends instructions to a function: what `expand` and `vjp` of the records are written with.
//
// Types are inferred by the records, so a builder call is checked like text. The first error
// sticks: later calls return invalid values and add nothing, and the owner asks `error()` once at
// the end. New instructions take over the place in the source and the `from` of the call that is
// being expanded or differentiated. Absent here: choosing names and walking functions (the passes
// do).
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ops/common.h"

namespace hostir::ops {

using Values = std::vector<ValueId>;

class Builder {
 public:
  using Fresh = std::function<std::string(std::string_view stem)>;
  /// Both functions must outlive the builder. `fresh` gives a name that is not used in `function`.
  Builder(Function& function, RegionId region, Fresh fresh);

  /// The call that the next instructions stand for. `stem` begins the names of new values.
  void begin(const Instruction& call, std::string stem);
  void set_region(RegionId region) { region_ = region; }

  /// The current call.
  const Instruction& call() const { return call_; }
  bool has_arg(size_t operand) const { return operand < call_.operands.size(); }
  ValueId arg(size_t operand) const { return call_.operands[operand].value; }
  ValueId result(size_t index = 0) const { return call_.results[index]; }
  const Attributes& attributes() const { return call_.attributes; }

  const Type& type(ValueId value) const { return function_.value(value).type; }
  Shape shape(ValueId value) const { return shape_of(type(value)); }
  DType dtype(ValueId value) const { return dtype_of(type(value)); }
  size_t rank(ValueId value) const { return shape(value).size(); }
  /// The last dimension; the rank is 1 or more.
  int64_t last_dim(ValueId value) const { return static_cast<int64_t>(rank(value)) - 1; }

  /// One instruction. `suffix` ends the result's name; the mnemonic if empty. `written` is needed
  /// by sources only.
  ValueId op(OpKind kind, const Values& operands, const Attributes& attributes = {},
             std::string_view suffix = {}, Type written = NoType{});
  /// One instruction with `count` results.
  Values ops(OpKind kind, const Values& operands, const Attributes& attributes, size_t count,
             std::string_view suffix = {});

  // Pointwise. Operands have one shape.
  ValueId add(ValueId a, ValueId b) { return op(OpKind::add, {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return op(OpKind::sub, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return op(OpKind::mul, {a, b}); }
  ValueId div(ValueId a, ValueId b) { return op(OpKind::div, {a, b}); }
  ValueId neg(ValueId x) { return op(OpKind::neg, {x}); }
  ValueId exp(ValueId x) { return op(OpKind::exp, {x}); }
  ValueId log(ValueId x) { return op(OpKind::log, {x}); }
  ValueId select(ValueId pred, ValueId a, ValueId b) { return op(OpKind::select, {pred, a, b}); }
  /// `direction`: eq ne lt le gt ge
  ValueId compare(ValueId a, ValueId b, std::string_view direction);
  /// x itself if it has the dtype.
  ValueId cast(ValueId x, DType to);
  ValueId scaled(ValueId x, double factor) { return mul(x, full_like(x, factor)); }
  ValueId shifted(ValueId x, double by) { return add(x, full_like(x, by)); }
  /// 1 where pred, else 0, as `like` in dtype.
  ValueId indicator(ValueId pred, DType dtype) { return cast(pred, dtype); }

  // Sources.
  ValueId full(DType dtype, const Shape& shape, double value);
  ValueId full_like(ValueId like, double value) { return full(dtype(like), shape(like), value); }
  ValueId zeros_like(ValueId like) { return full_like(like, 0); }
  /// Every element is an expression of sizes.
  ValueId full_size(DType dtype, const Shape& shape, const IndexExpr& size);
  ValueId iota(DType dtype, const Shape& shape, int64_t dim);

  // Shape. Each is x itself where nothing changes.
  ValueId broadcast(ValueId x, IntList dims, const Shape& to);
  /// As numpy: x's dimensions are the last ones of `to`; size 1 is widened.
  ValueId broadcast_to(ValueId x, const Shape& to);
  ValueId transpose(ValueId x, IntList permutation);
  ValueId reshape(ValueId x, const Shape& to);
  ValueId slice(ValueId x, ExprList start, ExprList limit);
  /// [start, limit) of one dimension, all of the others.
  ValueId slice_dim(ValueId x, int64_t dim, IndexExpr start, IndexExpr limit);
  ValueId concat(Values parts, int64_t dim);

  // Reductions.
  ValueId reduce(OpKind kind, ValueId x, IntList dims);
  ValueId sum(ValueId x, IntList dims) { return reduce(OpKind::reduce_sum, x, std::move(dims)); }
  /// A reduced value repeated along the dimensions that went, or that were kept with size 1.
  ValueId unreduce(ValueId reduced, const IntList& dims, const Shape& to);
  /// The transpose of broadcast_to: sums what was repeated, gives `to`.
  ValueId sum_to(ValueId x, const Shape& to);

  /// a[.., m, k] b[.., k, n], batches alike.
  ValueId matmul(ValueId a, ValueId b) { return op(OpKind::matmul, {a, b}); }

  /// A 16-bit float as f32, anything else itself; and back.
  ValueId widened(ValueId x);

  void fail(Error error);
  const std::optional<Error>& error() const { return error_; }

 private:
  Function& function_;
  RegionId region_;
  Fresh fresh_;
  Instruction call_;
  std::string stem_;
  std::optional<Error> error_;
};

/// 0 .. rank-1.
IntList all_dims(size_t rank);
/// A set of attributes.
Attributes attrs(std::initializer_list<std::pair<std::string_view, Attribute>> entries);
/// Whether a value is `dims`-th of all dims: the dimensions of 0..rank-1 that are not in `dims`.
IntList other_dims(size_t rank, const IntList& dims);
/// A dimension attribute, negative ones counted from the end.
int64_t dim_of(const Attributes& attributes, std::string_view name, size_t rank,
               int64_t fallback = -1);

}  // namespace hostir::ops
