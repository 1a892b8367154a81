#include <fmt/core.h>

#include <limits>

#include "hostir/ir/fits.h"
#include "hostir/ops/composite.h"

namespace hostir {

namespace {

constexpr int64_t kIgnoredIndex = -100;  // as in PyTorch

ops::Violated check_targets(const OpCall& call) {
  Shape wanted = shape_of(call.operands[0]);
  if (wanted.empty()) return Violation{"the logits of cross_entropy are a scalar, not classes", 0};
  wanted.pop_back();
  if (!ops::same_shape(shape_of(call.operands[1]), wanted)) {
    return Violation{fmt::format("the targets of cross_entropy are {}, the logits require {}",
                                 ops::text(shape_of(call.operands[1])), ops::text(wanted)),
                     1};
  }
  return ops::check_index_dtype(call, 1);
}

Expected<std::vector<Type>> infer_cross_entropy(const OpCall& call) {
  const Type type = ops::tensor(dtype_of(call.operands[0]), shape_of(call.operands[1]));
  const DType wide = is_narrow_float(dtype_of(type)) ? DType::kF32 : dtype_of(type);
  return std::vector<Type>{type, ops::tensor(wide, shape_of(type))};
}

// True where the class is the target; has the logits' shape.
ValueId chosen(ops::Builder& b, const IntList& dims) {
  const Shape& shape = b.shape(b.arg(0));
  const ValueId places = b.iota(b.dtype(b.arg(1)), shape, dims[0]);
  return b.compare(places, b.unreduce(b.arg(1), dims, shape), "eq");
}

int64_t ignored_index(const Attributes& attributes) {
  return attributes.get_or<int64_t>("ignore_index", kIgnoredIndex);
}

ops::Violated check_ignored(const OpCall& call) {
  const auto* given = call.attributes.get<int64_t>("ignore_index");
  const DType dtype = dtype_of(call.operands[1]);
  if (given == nullptr || !is_integer(dtype) || fits(*given, dtype)) return std::nullopt;
  return Violation{fmt::format("ignore_index is {}, which a target of dtype {} cannot hold", *given,
                               name(dtype))};
}

// True where the target does not count; has the targets' shape.
ValueId is_ignored(ops::Builder& b) {
  const ValueId targets = b.arg(1);
  const DType dtype = b.dtype(targets);
  const int64_t index = ignored_index(b.attributes());
  if (!fits(index, dtype)) return b.full(DType::kI1, b.shape(targets), 0);
  return b.compare(targets, b.full_like(targets, static_cast<double>(index)), "eq");
}

// The loss is 0 where the target is `ignore_index`, and NaN where it is not a class: then this
// instruction is the first of the run that makes a NaN.
ValueId with_special_targets(ops::Builder& b, ValueId loss) {
  const ValueId targets = b.arg(1);
  const Shape shape = b.shape(targets);
  const DType dtype = b.dtype(targets);
  const ValueId classes = b.full_size(dtype, shape, b.shape(b.arg(0)).back());
  const ValueId is_class =
      b.op(OpKind::logical_and,
           {b.compare(targets, b.full(dtype, shape, 0), "ge"), b.compare(targets, classes, "lt")});
  const ValueId nan = b.full_like(loss, std::numeric_limits<double>::quiet_NaN());
  const ValueId checked = b.select(is_class, loss, nan);
  return b.select(is_ignored(b), b.zeros_like(loss), checked);
}

// The target's logit is a sum over classes in which all elements but one are 0, so each rank sums
// over its own classes.
ops::Values expand_cross_entropy(ops::Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x, x};
  const IntList dims = {b.last_dim(x)};
  const Shape shape = b.shape(x);
  const ValueId largest = b.reduce(OpKind::reduce_max, x, dims);
  const ValueId shifted = b.sub(x, b.unreduce(largest, dims, shape));
  const ValueId log = b.log(b.sum(b.exp(shifted), dims));
  const ValueId picked = b.sum(b.select(chosen(b, dims), shifted, b.zeros_like(shifted)), dims);
  const ValueId loss = with_special_targets(b, b.sub(log, picked));
  return {b.cast(loss, b.dtype(b.arg(0))), b.add(log, largest)};
}

ops::Values cross_entropy_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {ValueId(), ValueId()};
  const IntList dims = {b.last_dim(x)};
  const Shape shape = b.shape(x);
  const ValueId share = b.exp(b.sub(x, b.unreduce(b.result(1), dims, shape)));
  ValueId dx;
  if (dy[0].valid()) {
    const ValueId rest = b.sub(share, b.cast(chosen(b, dims), b.dtype(x)));
    const ValueId dloss = b.widened(dy[0]);
    const ValueId used = b.select(is_ignored(b), b.zeros_like(dloss), dloss);
    dx = b.mul(rest, b.unreduce(used, dims, shape));
  }
  if (dy[1].valid()) {
    const ValueId more = b.mul(share, b.unreduce(dy[1], dims, shape));
    dx = dx.valid() ? b.add(dx, more) : more;
  }
  return {b.cast(dx, b.dtype(b.arg(0))), ValueId()};
}

}  // namespace

OpRecord op_cross_entropy() {
  return {
      .mnemonic = "cross_entropy",
      .shape = OpShape::kComposite,
      .summary = "The classification loss: minus the logarithm of the softmax at the target class.",
      .doc = {.shapes = "logits [i.., C] and targets [i..] give a loss and the logarithm of the "
                        "sum of exponentials, both [i..].",
              .sharding = "The dimensions of the targets pass through. If the classes are cut, the "
                          "maximum, the sum and the target's logit are reduced, three tensors "
                          "without classes; the logits are not gathered.",
              .dtypes = "Logits are floats, computed in f32 or wider; targets of any integer. A "
                        "target outside 0..C-1 that is not ignore_index gives NaN.",
              .cost = "Reads the logits once (bytes) when fused; about 14 flops per element."},
      .operands = {{.name = "logits", .doc = "unnormalised, classes last"},
                   {.name = "targets", .doc = "the right classes"}},
      .attributes = {{.name = "ignore_index",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "a target whose loss and gradient are 0 (padding)",
                      .fallback = Attribute(kIgnoredIndex)}},
      .results = {{.name = "loss", .doc = "log_sum - logits[target]"},
                  {.name = "log_sum", .doc = "log sum exp(logits)", .optional = true}},
      .constraints = {{"cross_entropy_c1",
                       "The targets are integers with the logits' shape without classes.",
                       check_targets},
                      {"cross_entropy_c2", ops::kFloat, ops::check_float},
                      {"cross_entropy_c3", "The targets' dtype holds ignore_index.",
                       check_ignored}},
      .infer = infer_cross_entropy,
      .expand = expand_cross_entropy,
      .cost = ops::composite_cost<14>,
      .gradient = "dlogits = (exp(logits - log_sum) - one_hot(targets)) * dloss",
      .vjp = cross_entropy_vjp,
      .example =
          R"(fusion @f(%x: tensor<2x5xf32>, %t: tensor<2xi32>) -> (%loss: tensor<2xf32>) {
  %loss = cross_entropy %x, %t
  return %loss
})",
      .source =
          "torch.nn.functional.cross_entropy; loss_parallel of torch.distributed, vocabulary "
          "parallel loss of Megatron-LM",
  };
}

}  // namespace hostir
