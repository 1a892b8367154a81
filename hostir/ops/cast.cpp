#include <fmt/format.h>

#include "hostir/ops/builder.h"

namespace hostir {

namespace {

Expected<std::vector<Type>> infer_cast(const OpCall& call) {
  const auto to = call.attributes.get_or<DType>("to", DType::kF32);
  return ops::inferred(ops::tensor(to, shape_of(call.operands[0])));
}

bool keeps_bits(const OpCall& call) { return call.attributes.get_or<bool>("bits", false); }

ops::Violated check_bits(const OpCall& call) {
  const DType from = dtype_of(call.operands[0]);
  const auto to = call.attributes.get_or<DType>("to", DType::kF32);
  if (!keeps_bits(call) || size_bytes(from) == size_bytes(to)) return std::nullopt;
  return Violation{
      fmt::format("cast with bits needs dtypes of one size: {} has {} bytes, {} has {}", name(from),
                  size_bytes(from), name(to), size_bytes(to)),
      0};
}

// True if `to` can represent every value of `from`; then sums may be formed before or after the
// cast.
bool is_exact(DType from, DType to) {
  if (from == to || (from == DType::kF32 && to == DType::kF64)) return true;
  return is_narrow_float(from) && (to == DType::kF32 || to == DType::kF64);
}

// Rounding between floats is monotone, so max and min stay partial. Wrapping of integers is not.
PartialUse cast_partial(const OpCall& call, size_t, Reduction kind) {
  if (keeps_bits(call)) return PartialUse::kReduceFirst;
  const DType from = dtype_of(call.operands[0]);
  const auto to = call.attributes.get_or<DType>("to", DType::kF32);
  const bool monotone = is_float(from) && is_float(to);
  if ((kind == Reduction::kMax || kind == Reduction::kMin) && monotone) return PartialUse::kAnyMix;
  if (kind == Reduction::kSum && is_exact(from, to)) return PartialUse::kOthersWhole;
  return PartialUse::kReduceFirst;
}

ops::Values cast_vjp(ops::Builder& b, std::span<const ValueId> dy) {
  if (b.attributes().get_or<bool>("bits", false)) return {ValueId()};
  return {is_float(b.dtype(b.result())) ? b.cast(dy[0], b.dtype(b.arg(0))) : ValueId()};
}

}  // namespace

OpRecord op_cast() {
  return {
      .mnemonic = "cast",
      .shape = OpShape::kPointwise,
      .summary = "Each element converted to another dtype.",
      .doc = {.shapes = "Any; the result has the same shape.",
              .sharding = "Every dimension passes through. A partial sum stays partial where the "
                          "wider float holds every value; partial max and min between floats.",
              .dtypes =
                  "Any to any. To a narrower float: nearest, ties to even; out of range gives "
                  "infinity, or NaN for f8e4m3, which has no infinity (clamp first to saturate); "
                  "integers "
                  "and f64 go to 16- and 8-bit floats through f32. Float to integer: "
                  "towards zero, saturating, NaN to 0. Integer to integer: wraps. To i1: 1 where "
                  "not 0. With `bits`, the bits stay and only the dtype changes.",
              .errors = "op_c3: the attribute `to` is missing.",
              .cost = "Reads x and writes y once (bytes); 1 flop per element."},
      .operands = {{.name = "x", .doc = "the operand"}},
      .attributes = {{.name = "to",
                      .type = AttributeSpec::Type::kDType,
                      .doc = "the dtype of the result",
                      .required = true},
                     {.name = "bits",
                      .type = AttributeSpec::Type::kBool,
                      .doc = "keep the bits of each element, not its value",
                      .fallback = Attribute(false)}},
      .results = {{.name = "y", .doc = "x as `to`"}},
      .constraints = {{"cast_c1", "with bits, both dtypes have one size", check_bits}},
      .infer = infer_cast,
      .rule = ops::pointwise_rule,
      .partial = cast_partial,
      .cost = ops::pointwise_cost<1>,
      .gradient = "dx = cast dy to the dtype of x, between floats; otherwise none",
      .vjp = cast_vjp,
      .example = R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xbf16>) {
  %y = cast %x {to = bf16}
  return %y
})",
      .source = "StableHLO spec, convert; saturation as in CUDA's conversions",
  };
}

}  // namespace hostir
