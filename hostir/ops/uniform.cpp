#include <fmt/core.h>

#include "hostir/ops/written.h"

namespace hostir {

namespace {

ops::Violated check_uniform_dtype(const OpCall& call) {
  const TensorType* written = ops::written_tensor(call);
  if (written == nullptr || is_float(written->dtype)) return std::nullopt;
  return Violation{fmt::format("uniform draws floats, not {}", name(written->dtype))};
}

ops::Violated check_range(const OpCall& call) {
  const double lo = call.attributes.get_or<double>("lo", 0);
  const double hi = call.attributes.get_or<double>("hi", 1);
  if (lo <= hi) return std::nullopt;
  return Violation{fmt::format("uniform needs lo <= hi, not {} and {}", lo, hi)};
}

}  // namespace

OpRecord op_uniform() {
  return {
      .mnemonic = "uniform",
      .shape = OpShape::kSource,
      .summary = "Random numbers, uniform in [lo, hi), the same for every sharding.",
      .doc = {.shapes = "The written type's.",
              .sharding =
                  "Any: the counter is the global linear index plus offset, never the rank.",
              .dtypes = "Floats; drawn with 24 bits in f32 and rounded.",
              .cost = "Writes y once (bytes); about 20 flops per element."},
      .attributes = {{.name = "lo",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the lower end",
                      .fallback = Attribute(0.0)},
                     {.name = "hi",
                      .type = AttributeSpec::Type::kFloat,
                      .doc = "the upper end, exclusive",
                      .fallback = Attribute(1.0)},
                     {.name = "seed",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "the generator's key",
                      .fallback = Attribute(int64_t{0})},
                     {.name = "offset",
                      .type = AttributeSpec::Type::kInt,
                      .doc = "added to the global linear index to make the counter",
                      .fallback = Attribute(int64_t{0})}},
      .results = {{.name = "y", .doc = "lo + (hi - lo) * random_unit(seed, index + offset)"}},
      .constraints = {{"uniform_c1", ops::kWritten, ops::check_written},
                      {"uniform_c2", "The result is a float.", check_uniform_dtype},
                      {"uniform_c3", "lo is not above hi.", check_range}},
      .infer = ops::infer_written,
      .rule = ops::source_rule,
      .cost = ops::pointwise_cost<20>,
      .gradient = "none: it has no operands",
      .example = R"(fusion @f() -> (%y: tensor<4xf32>) {
  %y = uniform {seed = 7} : tensor<4xf32>
  return %y
})",
      .source = "Philox4x32-10 of J. Salmon et al., SC11",
  };
}

}  // namespace hostir
