// Appends instructions to a function; `expand` and `vjp` in the records use this class.
//
// The records infer types, so a builder call is checked like program text. The first error is
// kept: later calls return invalid values and add nothing, and the owner checks `error()` once at
// the end. New instructions get the source position and the `from` of the call that is being
// expanded or differentiated. The passes choose names and walk functions.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ops/common.h"

namespace hostir::ops {

using Values = std::vector<ValueId>;

class Builder {
 public:
  using Fresh = std::function<std::string(std::string_view stem)>;
  /// `function`, `program` and `fresh` must outlive the builder. `fresh` returns a name not used in
  /// `function`. `program` has the kernels that `apply` names; null: there are none.
  Builder(Function& function, RegionId region, Fresh fresh, const Program* program = nullptr);

  /// Starts the replacement of `call`. `stem` is the prefix of new value names.
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
  /// The last dimension; the rank must be at least 1.
  int64_t last_dim(ValueId value) const { return static_cast<int64_t>(rank(value)) - 1; }

  /// Appends one instruction. The result's name ends with `suffix`, or the mnemonic if that is
  /// empty. Only sources need `written`, the result type.
  ValueId op(OpKind kind, const Values& operands, const Attributes& attributes = {},
             std::string_view suffix = {}, Type written = NoType{});
  /// Appends one instruction with `count` results.
  Values ops(OpKind kind, const Values& operands, const Attributes& attributes, size_t count,
             std::string_view suffix = {});

  // Pointwise ops. All operands have the same shape.
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
  /// Returns x itself if it already has the dtype.
  ValueId cast(ValueId x, DType to);
  ValueId scaled(ValueId x, double factor) { return mul(x, full_like(x, factor)); }
  ValueId shifted(ValueId x, double by) { return add(x, full_like(x, by)); }

  // Sources.
  ValueId full(DType dtype, const Shape& shape, double value);
  ValueId full_like(ValueId like, double value) { return full(dtype(like), shape(like), value); }
  ValueId zeros_like(ValueId like) { return full_like(like, 0); }
  /// A constant tensor whose elements are all `size`.
  ValueId full_size(DType dtype, const Shape& shape, const IndexExpr& size);
  ValueId iota(DType dtype, const Shape& shape, int64_t dim);

  // Changes of shape. Each returns x itself if nothing changes.
  ValueId broadcast(ValueId x, IntList dims, const Shape& to);
  /// Broadcasting as in NumPy: x's dimensions match the last ones of `to`, and size 1 is widened.
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
  /// Broadcasts a reduced value back along the reduced dimensions, whether removed or kept as 1.
  ValueId unreduce(ValueId reduced, const IntList& dims, const Shape& to);

  /// a[.., m, k] b[.., k, n] with equal batch dimensions.
  ValueId matmul(ValueId a, ValueId b) { return op(OpKind::matmul, {a, b}); }

  /// Casts a float narrower than f32 to f32; returns any other value itself.
  ValueId widened(ValueId x);

  /// Appends the body of a fusion, with `arguments` as its parameters and its sizes bound by them.
  /// Returns what the fusion returns.
  Values inlined(const Function& fusion, const Values& arguments);

  /// Says how a value is cut, as an annotation in the text does.
  void annotate(ValueId value, Sharding sharding);

  const Program& program() const { return program_; }
  void fail(Error error);
  const std::optional<Error>& error() const { return error_; }

 private:
  Function& function_;
  const Program& program_;
  RegionId region_;
  Fresh fresh_;
  Instruction call_;
  std::string stem_;
  std::optional<Error> error_;
};

/// The dimensions 0 .. rank-1.
IntList all_dims(size_t rank);
/// Attributes from a list of names and values.
Attributes attrs(std::initializer_list<std::pair<std::string_view, Attribute>> entries);
/// The dimensions in 0..rank-1 that are not in `dims`.
IntList other_dims(size_t rank, const IntList& dims);
/// A dimension attribute; negative numbers count from the end.
int64_t dim_of(const Attributes& attributes, std::string_view name, size_t rank,
               int64_t fallback = -1);

}  // namespace hostir::ops
