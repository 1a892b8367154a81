#include <fmt/core.h>

#include <cmath>

#include "hostir/ops/composite.h"

namespace hostir {

namespace {

size_t sequence_dim(const OpCall& call) {
  return static_cast<size_t>(
      ops::dim_of(call.attributes, "dim", shape_of(call.operands[0]).size(), -2));
}

ops::Violated check_rotary(const OpCall& call) {
  const Shape& x = shape_of(call.operands[0]);
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t dim = ops::dim_of(call.attributes, "dim", x.size(), -2);
  if (rank < 2 || dim < 0 || dim >= rank - 1) {
    return Violation{
        fmt::format("rotary along dimension {} of a tensor with {} dimensions: it is "
                    "one before the last",
                    dim, rank)};
  }
  const IndexExpr last = x.back().simplified();
  if (!last.is_const() || last.value() % 2 == 0) return std::nullopt;
  return Violation{fmt::format("rotary rotates pairs, but the last dimension has {}", last.value()),
                   0};
}

ops::Violated check_positions(const OpCall& call) {
  if (call.operands.size() < 2 || check_rotary(call)) return std::nullopt;
  const Shape& given = shape_of(call.operands[1]);
  const Shape wanted = {shape_of(call.operands[0])[sequence_dim(call)]};
  if (ops::same_shape(given, wanted)) return ops::check_index_dtype(call, 1);
  return Violation{fmt::format("rotary has {} positions for a sequence of {}", ops::text(given),
                               wanted[0].to_string()),
                   1};
}

// The angles [S, D/2]: position times base^(-2 i / D).
ValueId angles(ops::Builder& b, const IndexExpr& length, const IndexExpr& half) {
  const Shape shape = {length, half};
  const double base = b.attributes().get_or<double>("base", 10000.0);
  const ValueId pair = b.iota(DType::kF32, shape, 1);
  const ValueId count = b.full_size(DType::kF32, shape, half);
  const ValueId frequency = b.exp(b.scaled(b.div(pair, count), -std::log(base)));
  const ValueId place = b.has_arg(1) ? b.broadcast(b.cast(b.arg(1), DType::kF32), {0}, shape)
                                     : b.iota(DType::kF32, shape, 0);
  return b.mul(place, frequency);
}

ops::Values expand_rotary(ops::Builder& b) {
  const ValueId x = b.widened(b.arg(0));
  if (b.error()) return {x};
  const int64_t last = b.last_dim(x);
  const int64_t dim = ops::dim_of(b.attributes(), "dim", b.rank(x), -2);
  const IndexExpr size = b.shape(x)[static_cast<size_t>(last)];
  const IndexExpr half = IndexExpr::binary(IndexExpr::Kind::kDiv, size, 2).simplified();
  const ValueId angle = angles(b, b.shape(x)[static_cast<size_t>(dim)], half);
  const bool pairs = b.attributes().get_or<bool>("interleaved", false);
  Shape part = b.shape(x);
  part.back() = half;
  const auto along = [&](OpKind kind) {
    return b.broadcast(b.cast(b.op(kind, {angle}), b.dtype(x)), {dim, last}, part);
  };
  const ValueId cos = along(OpKind::cos);
  const ValueId sin = along(OpKind::sin);
  // Neighbours form pairs: [.., D/2, 2]. Halves of a symbolic D: [.., 2, D/2], since D - D/2 is not
  // known to be D/2.
  const bool folded = pairs || !size.is_const();
  const int64_t which_dim = pairs ? last + 1 : last;
  const auto with_dim = [&](int64_t extent) {
    Shape shape = part;
    shape.insert(shape.begin() + which_dim, extent);
    return shape;
  };
  const ValueId grid = folded ? b.reshape(x, with_dim(2)) : x;
  const auto half_of = [&](int64_t which) {
    if (!folded) {
      return which == 0 ? b.slice_dim(x, last, 0, half) : b.slice_dim(x, last, half, size);
    }
    return b.reshape(b.slice_dim(grid, which_dim, which, which + 1), part);
  };
  const ValueId first = half_of(0);
  const ValueId second = half_of(1);
  const ValueId turned = b.sub(b.mul(first, cos), b.mul(second, sin));
  const ValueId other = b.add(b.mul(second, cos), b.mul(first, sin));
  ValueId y;
  if (folded) {
    const Shape one = with_dim(1);
    y = b.reshape(b.concat({b.reshape(turned, one), b.reshape(other, one)}, which_dim), b.shape(x));
  } else {
    y = b.concat({turned, other}, last);
  }
  return {b.cast(y, b.dtype(b.arg(0)))};
}

}  // namespace

OpRecord op_rotary() {
  return {
      .mnemonic = "rotary",
      .shape = OpShape::kComposite,
      .summary =
          "Rotary position embedding: pairs of the last dimension rotated by an angle that grows "
          "with the position.",
      .doc = {.shapes = "x [.., S, .., D] with D even, the sequence along dim; positions [S].",
              .sharding = "All dimensions but the last pass through, the sequence too: each rank "
                          "knows its positions. The last one is gathered first.",
              .dtypes = "Floats; angles in f32, 16- and 8-bit ones are computed in f32 and "
                        "rounded once. Positions: any integer type.",
              .cost = "Reads x and writes y once (bytes) when fused; about 30 flops per element."},
      .operands = {{.name = "x", .doc = "queries or keys"},
                   {.name = "positions",
                    .doc = "the position of each element of the sequence; 0, 1, .. if absent",
                    .arity = OperandSpec::Arity::kOptional}},
      .attributes = {{.name = "dim",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the dimension of the sequence",
                      .fallback = Attribute(int64_t{-2})},
                     {.name = "base",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the angle of pair i is position * base^(-2i/D)",
                      .fallback = Attribute(10000.0)},
                     {.name = "interleaved",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "pairs are neighbours (2i, 2i+1), not (i, i + D/2)",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "x with its pairs rotated"}},
      .constraints = {{"rotary_c1", "dim is before the last dimension, which is even.",
                       check_rotary},
                      {"rotary_c2", "The positions are integers, one per element of dim.",
                       check_positions},
                      {"rotary_c3", ops::kFloat, ops::check_float}},
      .infer = ops::infer_like_first,
      .expand = expand_rotary,
      .cost = ops::composite_cost<30>,
      .gradient = "dy turned back",
      .example = R"(fusion @f(%q: tensor<2x3x4xf32>) -> (%y: tensor<2x3x4xf32>) {
  %y = rotary %q
  return %y
})",
      .source = "J. Su et al., RoFormer, 2021; halves as in GPT-NeoX and Llama (Hugging Face)",
  };
}

}  // namespace hostir
