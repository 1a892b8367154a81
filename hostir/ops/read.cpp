#include <fmt/core.h>

#include "hostir/ops/host.h"
#include "hostir/ops/integer_list.h"

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

// Whether a range lies in its buffer depends on the rank; the interpreter checks it.
ops::Violated check_ranges(const OpCall& call) {
  const auto* limits = call.attributes.get<ExprList>("limits");
  const auto index = call.attributes.get_or<ExprList>("index", {});
  for (size_t d = 0; limits != nullptr && d < limits->size() && d < index.size(); ++d) {
    const bool open = (*limits)[d].simplified() == IndexExpr(-1);
    if (ops::is_below(index[d], 0) || (!open && ops::is_below((*limits)[d], index[d]))) {
      return Violation{
          fmt::format("read takes {}:{} of dimension {}: a range begins at 0 or later "
                      "and does not end before it begins",
                      index[d].to_string(), open ? "" : (*limits)[d].to_string(), d)};
    }
  }
  return std::nullopt;
}

Expected<std::vector<Type>> infer_read(const OpCall&) { return ops::inferred(IndexType{}); }

}  // namespace

bool ops::is_integer_list(const Function& function, ValueId value) {
  const InstrId by = function.value(value).defined_by;
  if (!by.valid() || function.instr(by).kind != OpKind::read) return false;
  const Attributes& attributes = function.instr(by).attributes;
  return attributes.has("limits") && !attributes.has("reduction");
}

OpRecord op_read() {
  return {
      .mnemonic = "read",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .summary =
          "Copies integers of a buffer to the host, after the writes that the host has waited for: "
          "one, a list, or the sum of a range.",
      .doc = {.shapes = "One index or range per dimension. Ranges give a list in row-major order, "
                        "as long on every rank, which `counts(..)` and `receives(..)` take; with "
                        "sum, min or max they give one integer. The sum of no integers is 0.",
              .sharding = "The index is relative to the local part.",
              .dtypes = "Integers and i1.",
              .cost = ops::kStreamCost},
      .operands = {{.name = "buffer", .doc = "what is read"}},
      .attributes = {{.name = "reduction",
                      .type = AttributeSpec::Type::kKeyword,
                      .doc = "what one integer is made of a range: sum, min or max",
                      .keywords = {"sum", "min", "max"}},
                     {.name = "index",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "the element, or where each range begins, per dimension",
                      .required = true},
                     {.name = "limits",
                      .type = AttributeSpec::Type::kExprs,
                      .doc = "where each range ends, exclusive; -1 for the end of the dimension"}},
      .results = {{.name = "value", .doc = "the integer, or the list"}},
      .constraints = {{"read_c1", "The operand is a buffer.", ops::check_buffer},
                      {"read_c2", "Its elements are integers.", check_read_dtype},
                      {"read_c3", "There is one index per dimension.", check_index},
                      {"read_c4", "Ranges begin at 0 or later, and none ends before it begins.",
                       check_ranges}},
      .infer = infer_read,
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
host @f on @m (%counts: tensor<2xi64>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %n = read %counts[0]
  %all = read sum %counts[:]
  assert %n <= %all
  %b = alloc on %s : tensor<4xf32>
  return %b
})",
      .source = "Equivalent to: cudaMemcpy to the host",
      .assembly = "<#reduction> $buffer[#index:#limits]",
  };
}

}  // namespace hostir
