#include <fmt/core.h>

#include "hostir/ops/host.h"

namespace hostir {

namespace {

ops::Violated check_read_dtype(const OpCall& call) {
  const Type* buffer = ops::only_buffer(call);
  if (buffer == nullptr || !is_float(dtype_of(*buffer))) return std::nullopt;
  return Violation{fmt::format("read copies integers to the host, not {}", name(dtype_of(*buffer))),
                   0};
}

ops::Violated check_index(const OpCall& call) {
  const auto index = call.attributes.get_or<ExprList>("index", {});
  const Type* buffer = ops::only_buffer(call);
  if (buffer == nullptr) return std::nullopt;  // read_c1
  const size_t rank = shape_of(*buffer).size();
  if (index.size() == rank) return std::nullopt;
  return Violation{fmt::format("read has {} indices for {} dimensions", index.size(), rank)};
}

Expected<std::vector<Type>> infer_read(const OpCall&) { return ops::inferred(IndexType{}); }

}  // namespace

OpRecord op_read() {
  return {
      .mnemonic = "read",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .summary =
          "Copies one integer of a buffer to the host, after the writes that the host has waited "
          "for.",
      .doc = {.shapes = "One index per dimension.",
              .sharding = "The index is relative to the local part.",
              .dtypes = "Integers and i1.",
              .cost = ops::kStreamCost},
      .operands = {{.name = "buffer", .doc = "what is read"}},
      .attributes = {{.name = "index",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the element, one index per dimension",
                      .required = true}},
      .results = {{.name = "value", .doc = "the integer"}},
      .constraints = {{"read_c1", "The operand is a buffer.", ops::check_buffer},
                      {"read_c2", "Its elements are integers.", check_read_dtype},
                      {"read_c3", "There is one index per dimension.", check_index}},
      .infer = infer_read,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%counts: tensor<2xi64>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %n = read %counts[0]
  assert %n >= 0
  %b = alloc on %s : tensor<4xf32>
  return %b
})",
      .source = "Equivalent to: cudaMemcpy to the host",
      .assembly = "$buffer[#index]",
  };
}

}  // namespace hostir
