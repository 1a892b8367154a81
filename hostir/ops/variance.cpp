#include "hostir/ops/variance.h"

namespace hostir::ops {

std::vector<AttributeSpec> variance_attributes() {
  std::vector<AttributeSpec> out = reduction_attributes();
  out.push_back({.name = "correction",
                 .type = AttributeSpec::Type::kInt,
                 .doc = "subtracted from the number of elements; 1 for the estimate from a sample",
                 .fallback = Attribute(int64_t{1})});
  return out;
}

// The mean is over all elements, so it is reduced before the squares are added up.
Values expand_variance(Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x};
  const Shape shape = b.shape(x);
  const IntList dims = b.attributes().get_or<IntList>("dims", {});
  const ValueId mean = b.unreduce(b.reduce(OpKind::reduce_mean, x, dims), dims, shape);
  const ValueId off = b.sub(x, mean);
  Attributes attributes = b.attributes();
  attributes.erase("correction");
  const ValueId sum = b.op(OpKind::reduce_sum, {b.mul(off, off)}, std::move(attributes));
  if (b.error()) return {sum};
  IndexExpr count = 1;
  for (const int64_t d : dims) {
    count = IndexExpr::binary(IndexExpr::Kind::kMul, count, shape[static_cast<size_t>(d)]);
  }
  const int64_t correction = b.attributes().get_or<int64_t>("correction", 1);
  count = IndexExpr::binary(IndexExpr::Kind::kSub, count, correction);
  count = IndexExpr::binary(IndexExpr::Kind::kMax, count, 0).simplified();
  const ValueId degrees = b.full_size(b.dtype(sum), b.shape(sum), count);
  return {b.cast(b.div(sum, degrees), b.dtype(b.arg(0)))};
}

}  // namespace hostir::ops
